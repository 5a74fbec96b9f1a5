# Spark's engine: a driver for `local[*]`, or for a cluster in client mode. After `make dist`:
#   docker build -f docs/containers/spark.Dockerfile -t groupscope-spark:0.1.0 .
#   docker run --rm -v /srv/groupscope:/data groupscope-spark:0.1.0 --master 'local[*]' audit.py \
#     --source kafka:broker-1:9092 --warehouse /data/warehouse --report /data/report
FROM python:3.11-slim-bookworm
# Debian removes the versions that it replaces, so a pinned one would soon be gone.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/groupscope
COPY dist/requirements.txt dist/groupscope-0.1.0-py3-none-any.whl dist/groupscope-0.1.0.zip ./
COPY conf/spark-defaults.conf conf/
COPY jobs/audit.py jobs/ingest.py jobs/replay.py jobs/assignments.py jobs/lag.py jobs/gate.py ./
RUN python3 -m venv .venv \
 && .venv/bin/python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements.txt \
 && .venv/bin/python -m pip install --no-cache-dir --no-deps groupscope-0.1.0-py3-none-any.whl
ENV GROUPSCOPE_CACHE=/opt/groupscope/cache
RUN .venv/bin/python -m jobs.spark.submit_script \
 && .venv/bin/python -m jobs.spark.jars \
 && .venv/bin/python -m jobs.spark.compiled_loops \
 && chown -R 10001:10001 cache
USER 10001:10001
ENTRYPOINT [".venv/bin/spark-submit", "--properties-file", "conf/spark-defaults.conf", "--py-files", "groupscope-0.1.0.zip"]
