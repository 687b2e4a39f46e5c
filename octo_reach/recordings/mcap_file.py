"""An MCAP file of ROS 2 messages, as `ros2 bag` and Foxglove read it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

from mcap.well_known import MessageEncoding, Profile, SchemaEncoding
from mcap.writer import CompressionType, Writer

from octo_reach import __version__

CHUNK_SIZE = 1024 * 1024
"""What is compressed in one piece, byte."""


@dataclass
class RecordedTopic:
    """A topic of a file.

    Attributes:
        name: its full name, with a leading slash.
        type: full name of its message type, `std_msgs/msg/Header`.
        messages: how many messages of it are in the file.
    """

    name: str
    type: str
    messages: int = 0


class McapFile:
    """A file that is written, message by message.

    Whatever happens, what was flushed can be read again; only a file that was closed has the
    summary at its end that makes reading quick.

    Attributes:
        topics: the topics so far, by name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Begin a file, in the place of the one there is.

        Args:
            path: where it is to be.

        Raises:
            OSError: it cannot be written.
        """
        self.topics: dict[str, RecordedTopic] = {}
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._stream = open(path, "wb")  # noqa: SIM115 - open until `close`
        self._broken = False
        self._writer = Writer(self._stream, chunk_size=CHUNK_SIZE, compression=CompressionType.ZSTD)
        with self._guarded():
            self._writer.start(profile=Profile.ROS2, library=f"octo_reach {__version__}")

    def __enter__(self) -> McapFile:
        """Write to the file meanwhile."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *failure: object) -> None:
        """Close it. A failure on the way there does not hide the one that led here."""
        if kind is None:
            self.close()
        else:
            with contextlib.suppress(OSError):
                self.close()

    @property
    def messages(self) -> int:
        """How many messages are in it."""
        return sum(topic.messages for topic in self.topics.values())

    def add_topic(
        self,
        name: str,
        kind: str,
        definition: str,
        offered_profiles: str = "",
        type_hash: str = "",
    ) -> None:
        """Make room for the messages of a topic.

        Args:
            name: its full name, with a leading slash.
            kind: full name of its message type, `std_msgs/msg/Header`.
            definition: the definition of that type, and of all in it.
            offered_profiles: qualities of service of its publishers, as rosbag2 writes them.
            type_hash: hash of the type, as ROS 2 gives it; empty where it is not known.

        Raises:
            ValueError: there is such a topic already.
            OSError: the file cannot be written.
        """
        if name in self.topics:
            raise ValueError(f"topic {name} is in the file already")
        with self._guarded():
            if kind not in self._schemas:
                self._schemas[kind] = self._writer.register_schema(
                    kind, SchemaEncoding.ROS2, definition.encode()
                )
            self._channels[name] = self._writer.register_channel(
                name,
                MessageEncoding.CDR,
                self._schemas[kind],
                {"offered_qos_profiles": offered_profiles, "topic_type_hash": type_hash},
            )
        self.topics[name] = RecordedTopic(name, kind)

    def write(
        self, name: str, data: bytes, log_time: int, publish_time: int, sequence: int = 0
    ) -> None:
        """Append a message.

        Args:
            name: name of a topic that was added.
            data: the message as the middleware carries it.
            log_time: when it was received, ns.
            publish_time: when it was sent, ns.
            sequence: which of its publisher's messages it is, 0 where that is not known.

        Raises:
            OSError: the file cannot be written.
        """
        with self._guarded():
            self._writer.add_message(
                channel_id=self._channels[name],
                log_time=log_time,
                publish_time=publish_time,
                sequence=sequence,
                data=data,
            )
        self.topics[name].messages += 1

    def flush(self) -> None:
        """Let what was written so far be in the file, whatever happens to this process.

        Raises:
            OSError: the file cannot be written.
        """
        with self._guarded():
            self._writer.flush()

    def close(self) -> None:
        """Write the summary and close the file.

        Raises:
            OSError: the file cannot be written.
        """
        if self._stream.closed:
            return
        try:
            if not self._broken:
                with self._guarded():
                    self._writer.finish()
                    self._stream.flush()
        finally:
            with contextlib.suppress(OSError):
                self._stream.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Note that the file is incomplete where something in here fails."""
        try:
            yield
        except OSError:
            self._broken = True
            raise
