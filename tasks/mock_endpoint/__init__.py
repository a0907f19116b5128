"""An endpoint to try things on: OpenAI's wire format, the embedded engine's answers, any fault.

It is asked over HTTP like any other, on the loopback interface: chat completions, embeddings,
models, files, batches. Faults, by file and schedule, happen to chat completions; what happens to
batches has options of its own. Two faults are conditions of the connection and no server's to
serve: a certificate that nobody trusts is an endpoint started with `--tls-self-signed`, and a name
that does not exist is an endpoint that is not there. A refused connection is served by not
listening for half a second.

Texts are billed by `estimate_tokens`, with four tokens a message and the schema's; what was seen
before of a system prompt counts as cached. Embeddings are hashed words, 384 dimensions, of length
one; chances of tokens are drawn by a hash. What fails to arrive is billed only where a real
endpoint would have done the work and the answer went out: late ones, and those that nobody was
there to take (`lost` in the ledger).
"""
