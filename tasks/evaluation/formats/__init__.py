"""The files of public benchmarks: one reader a data set."""
