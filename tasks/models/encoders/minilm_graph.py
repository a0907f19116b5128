"""The all-MiniLM-L6-v2 network as an ONNX graph with 7-bit weights, built without torch.

Six layers of BERT, the mean over the tokens, scaled to length one (Reimers and Gurevych 2019;
Wang et al. 2020). The texts of one call must have the same length: the graph has no padding.
"""

from typing import Any

import numpy as np

LAYERS, HEADS, WIDTH = 6, 12, 384
SEPARATOR = 102  # the token between two texts
WORDS = "embeddings.word_embeddings.weight"  # (30522, 384), a row per token of the vocabulary
EPSILON = 1e-12  # in layer normalisation, as in the model's config.json
# Seven bits per weight: with eight, processors without VNNI overflow when they add byte products.
LARGEST_WEIGHT = 63
RECIPE = "7bit-1"


def build_minilm_graph(weights: dict[str, np.ndarray]) -> bytes:
    """Return the ONNX graph of `words` float32 (texts, tokens, 384), the tokens' rows of WORDS.

    Weights are named as MiniLM's. WORDS is not part of the graph, which therefore loads in half the
    time, and all processes map the same file. The outputs are `vectors` float32 (texts, 384), and
    `states` float32 (texts, tokens, 384), whose mean over the tokens has the direction of the
    vector.
    """
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    graph.read({"states": sum(name.endswith("intermediate.dense.weight") for name in weights)})
    mean = graph.add("ReduceMean", "states", graph.integers(1), keepdims=0)
    graph.add("LpNormalization", mean, output="vectors", axis=-1, p=2)
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", WIDTH])
    graph.outputs.insert(0, vectors)
    return graph.serialised()


def build_states_graph(
    weights: dict[str, np.ndarray], outputs: dict[str, int], *, pairs: bool = False
) -> bytes:
    """Return the ONNX graph of `words` float32 (texts, tokens, 384); weights are named as MiniLM's.

    `outputs` maps the name of each output, float32 (texts, tokens, 384), to the number of layers
    after which its states are taken. With `pairs` there is a second input, `ids` int64 (texts,
    tokens), and the tokens after the first separator are marked as BERT's second segment.
    """
    graph = _Graph(weights, pairs=pairs)
    graph.read(outputs)
    return graph.serialised()


class _Graph:
    """Collects nodes and weights; methods that add a node return the name of its result."""

    def __init__(self, weights: dict[str, np.ndarray], *, pairs: bool = False) -> None:
        self.weights, self.pairs = weights, pairs
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.outputs: list[Any] = []

    def read(self, outputs: dict[str, int]) -> None:
        """Add the layers that the outputs need; `outputs` maps each name to a number of layers."""
        from onnx import TensorProto, helper

        value = self.embed("words")
        for layer in range(max(outputs.values())):
            value = self.layer(value, f"encoder.layer.{layer}")
            for name, after in outputs.items():
                if after == layer + 1:
                    shape: list[str | int | None] = ["texts", "tokens", WIDTH]
                    self.add("Identity", value, output=name)
                    self.outputs.append(
                        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                    )

    def serialised(self) -> bytes:
        """Return the graph as the bytes of an ONNX model file."""
        from onnx import TensorProto, helper

        shape: list[str | int] = ["texts", "tokens", WIDTH]
        inputs = [helper.make_tensor_value_info("words", TensorProto.FLOAT, shape)]
        if self.pairs:
            inputs.append(helper.make_tensor_value_info("ids", TensorProto.INT64, shape[:2]))
        body = helper.make_graph(self.nodes, "minilm", inputs, self.outputs, self.initializers)
        versions = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(body, opset_imports=versions, ir_version=10)
        graph_bytes: bytes = model.SerializeToString()
        return graph_bytes

    def constant(self, value: np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = output or f"value_{len(self.nodes)}"
        outputs = [f"{output}_{part}" for part in range(attributes.get("num_outputs", 0))]
        node = helper.make_node(operator, list(inputs), outputs or [output], **attributes)
        self.nodes.append(node)
        return output

    def embed(self, value: str) -> str:
        places = self.weights["embeddings.position_embeddings.weight"]
        first_segment = self.weights["embeddings.token_type_embeddings.weight"][0]
        length = self.add("Shape", value, start=1, end=2)
        start, axis = self.integers(0), self.integers(0)
        place = self.add("Slice", self.constant(places + first_segment), start, length, axis)
        if self.pairs:
            value = self.add("Add", value, self.second_segment("ids"))
        return self.normalise(value, place, "embeddings")

    def second_segment(self, ids: str) -> str:
        """Add the second segment's difference to the tokens after the first separator."""
        from onnx import TensorProto

        segments = self.weights["embeddings.token_type_embeddings.weight"]
        ends = self.add(
            "Cast", self.add("Equal", ids, self.integers(SEPARATOR)), to=TensorProto.INT64
        )
        passed = self.add("CumSum", ends, self.integers(1), exclusive=1)
        kind = self.add("Min", passed, self.integers(1))
        return self.add("Gather", self.constant(segments - segments[0]), kind)

    def layer(self, value: str, prefix: str) -> str:
        parts = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        split = self.add("Split", self.linear(value, *parts), axis=-1, num_outputs=3)
        heads = [f"{split}_{part}" for part in range(3)]
        seen = self.add("MultiHeadAttention", *heads, domain="com.microsoft", num_heads=HEADS)
        seen = self.linear(seen, f"{prefix}.attention.output.dense")
        value = self.normalise(seen, value, f"{prefix}.attention.output")
        wide = self.add("Gelu", self.linear(value, f"{prefix}.intermediate.dense"))
        return self.normalise(
            self.linear(wide, f"{prefix}.output.dense"), value, f"{prefix}.output"
        )

    def normalise(self, value: str, residual: str, prefix: str) -> str:
        scale = self.constant(self.weights[f"{prefix}.LayerNorm.weight"])
        shift = self.constant(self.weights[f"{prefix}.LayerNorm.bias"])
        total = self.add("Add", value, residual)
        return self.add("LayerNormalization", total, scale, shift, axis=-1, epsilon=EPSILON)

    def linear(self, value: str, *prefixes: str) -> str:
        """Multiply by the concatenated weights of layers with the same input, and add their biases.

        Each column of the weights has its own scale. The scale of the values is computed at run
        time from the extremes of all tokens in a call; this is why `tasks.models.encoders.minilm`
        encodes one text per call.
        """
        matrix = np.concatenate([self.weights[f"{p}.weight"].T for p in prefixes], axis=1)
        bias = np.concatenate([self.weights[f"{p}.bias"] for p in prefixes])
        scale = np.maximum(np.abs(matrix).max(axis=0), 1e-8) / LARGEST_WEIGHT
        return self.add(
            "DynamicQuantizeMatMul",
            value,
            self.constant(np.rint(matrix / scale).astype(np.int8)),
            self.constant(scale.astype(np.float32)),
            self.constant(np.zeros(len(scale), np.int8)),
            self.constant(bias),
            domain="com.microsoft",
        )
