"""MiniLM with tuned upper layers as an ONNX graph, and the names of the tuned weights."""

LOWER = 4  # layers as packaged; those above are tuned
LAST = 5  # layers below the last, whose attention a pair is seen with
