-- Gates as they stand: the last calibration of every task that was not removed since.
create table last_calibrations as
select * from (
    select * from j_gate_calibrations
    qualify row_number() over (partition by task order by commit desc) = 1
)
where action = 'calibrate';

create table gate_seed_facts as
select c.task, s.seed, s.question, s.label, s.score, s.vector, s.popularity, s.uncertainty,
       s.own_answer, s.gain
from j_calibration_seeds s join last_calibrations c using (calibration_id);

create table centroid_facts as
select c.task, c.encoder, k.label, k.cluster, k.size, k.inertia, k.vector
from j_calibration_clusters k join last_calibrations c using (calibration_id);

create table threshold_facts as
select c.task, t.budget, t.value
from j_calibration_thresholds t join last_calibrations c using (calibration_id);

create table current_gates as
select task, gate, options, encoder, encoder_choice,
       (select count(*) from gate_seed_facts s where s.task = c.task) as seeds,
       (select count(distinct label) from gate_seed_facts s where s.task = c.task) as classes,
       (select count(*) from centroid_facts k where k.task = c.task) as clusters,
       reach, scale, calibration_id, calibrated_at
from last_calibrations c;
