# One image for a Prefect worker (its own command) and for the service:
#   docker run -p 8080:8080 -v home:/home/almanac/home IMAGE COMMAND
# where COMMAND is `almanac serve --host 0.0.0.0`, with TLS or a proxy in front of it.
FROM python:3.11-slim

RUN useradd --create-home almanac
WORKDIR /home/almanac
COPY . /tmp/source
RUN cd /tmp/source \
    && pip install --no-cache-dir --require-hashes --no-deps -r requirements.lock \
    && pip install --no-cache-dir --no-deps . \
    && rm -rf /tmp/source

USER almanac
ENV ALMANAC_HOME=/home/almanac/home \
    PYTHONUNBUFFERED=1
VOLUME /home/almanac/home
CMD ["prefect", "worker", "start", "--pool", "almanac"]
