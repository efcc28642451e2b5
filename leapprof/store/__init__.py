"""The recording on disk: a manifest, a journal of frames while recording, and sealed tables.

::

    recording.json          manifest, replaced as a whole (manifest.py)
    journal.sqlite          frames as they came from the wire, one table, WAL (journal.py)
    <table>-NNNN.parquet    what the frames of one stretch say, sealed (segments.py)
    .lock                   held by the one process that records

A kill at any moment loses nothing that was appended. A segment counts once the journal says so: the
transaction that deletes its frames also raises the journal's number of sealed segments.
"""

from leapprof.store.recording import RecordingWriter, StoredRecording, open_recording
from leapprof.store.retention import Retention

__all__ = ["RecordingWriter", "Retention", "StoredRecording", "open_recording"]
