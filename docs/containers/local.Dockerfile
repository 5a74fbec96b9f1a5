# The local engine: no Java, no Spark. After `make dist`:
#   docker build -f docs/containers/local.Dockerfile -t groupscope:0.1.0 .
#   docker run --rm -v /srv/groupscope:/data groupscope:0.1.0 audit --source kafka:broker-1:9092 --warehouse /data
FROM python:3.11-slim-bookworm
WORKDIR /opt/groupscope
COPY dist/requirements-local.txt dist/groupscope-0.1.0-py3-none-any.whl ./
RUN python3 -m venv .venv \
 && .venv/bin/python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements-local.txt
# Compiled here, so that a container need not. A processor of another kind than this one compiles them again.
ENV GROUPSCOPE_CACHE=/opt/groupscope/cache
RUN .venv/bin/python -m jobs.spark.compiled_loops && chown -R 10001:10001 cache
# The report's default place is a folder of the working folder.
WORKDIR /data
USER 10001:10001
ENTRYPOINT ["/opt/groupscope/.venv/bin/groupscope"]
