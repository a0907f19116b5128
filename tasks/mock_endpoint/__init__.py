"""A mock endpoint: OpenAI's wire format, the embedded engine's answers, faults on request.

It serves chat completions, embeddings, models, files and batches over HTTP on the loopback
interface. Chat completions are served with the faults in a file. Two of these cannot be served: an
untrusted certificate and a host that does not exist. To refuse connections, the endpoint stops
listening for half a second.

Texts are billed by `estimate_tokens`, plus four tokens per message and those of the schema; a
system prompt seen before counts as cached. Embeddings are hashed words; the probabilities of tokens
are drawn by a hash. A reply that does not arrive is billed only if a real endpoint would have
generated and sent it: late replies, and those whose client had disconnected (`lost` in the ledger).
"""
