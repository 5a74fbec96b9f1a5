"""Control records: markers that end a transaction. Their keys look like record types 0 and 1, so batches must tell
them apart (bit 5 of the attributes) before any key is read."""

from schemas.declarations.fields import Field, Kind, Message, Shape

# Kafka reads a version above 0 as 0, so bytes may follow there.
KEY = Message(
    "ControlRecordKey",
    (
        Shape(
            (Field("type", Kind.INT16, "0 ABORT, 1 COMMIT; others belong to the metadata log of KRaft."),),
            releases="0.11+",
            provenance="KIP-98",
        ),
    ),
)

VALUE = Message(
    "EndTransactionMarker",
    (
        Shape(
            (
                Field(
                    "coordinator_epoch", Kind.INT32, "Epoch of the transaction coordinator that ended the transaction."
                ),
            ),
            releases="0.11+",
            provenance="KIP-98",
        ),
    ),
)
