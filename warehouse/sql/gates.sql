-- Gates as they stand: the last calibration of every task that was not removed since.
create table current_gates as
select * from (
    select * from j_gate_calibrations
    qualify row_number() over (partition by task order by commit desc) = 1
)
where action = 'calibrate' and reads_everything();  -- its questions are not the reader's

create table gate_seed_facts as
from j_calibration_seeds where calibration_id in (select calibration_id from current_gates);

create table centroid_facts as
from j_calibration_clusters where calibration_id in (select calibration_id from current_gates);

create table threshold_facts as
from j_calibration_thresholds where calibration_id in (select calibration_id from current_gates);
