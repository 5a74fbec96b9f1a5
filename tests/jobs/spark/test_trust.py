"""The store of trusted certificates is written byte by byte, so Java itself says what it holds."""

import subprocess
from pathlib import Path

from jobs.spark.java import system_certificates, trust_options
from tests.kafka.java_programs import compile_java, java_command


def test_java_reads_every_trusted_certificate_of_the_machine(tmp_path):
    program = compile_java([Path(__file__).with_name("TrustStore.java")])
    # With the password Java also checks the store's digest.
    command = java_command("TrustStore", [program], ["changeit"], options=trust_options(tmp_path))
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    certificates = system_certificates()
    assert certificates
    assert sorted(output) == sorted(certificate.hex() for certificate in certificates)
