"""From a committed version to the generation that is served."""

from __future__ import annotations

from indexer.progress import progress_bar
from indexer.texts import Workshop, encode_apart
from store.archive import Archive
from store.catalogue import Version
from store.centring import centre_of
from store.embedded import build_generation, wanted_inputs
from store.embedded.build import EncoderIdentity, generation_name
from store.errors import CacheDamaged, Damaged
from store.generations import clean_up, is_served, is_sound
from store.generations import publish as serve
from store.versions import states_at


def publish_version(
    workshop: Workshop, archive: Archive, version: Version, *, publish: bool = True
) -> str:
    """Build the generation of ``version`` where there is no sound one, and serve it where asked.

    Returns the generation's name.
    """
    encoder = workshop.encoder
    identity = EncoderIdentity(encoder.name, encoder.fingerprint, encoder.dimension)
    name = generation_name(wanted_inputs(version, identity))
    if not is_sound(archive, name):
        # Vectors are read in blocks, and a damaged one is forgotten when it is met: this ends.
        while not _built(workshop, archive, version, identity):
            encode_version(workshop, version)
    if publish and not is_served(archive, name):
        serve(archive, name)
        clean_up(archive)
    return name


def encode_version(workshop: Workshop, version: Version) -> None:
    """Encode every passage of ``version`` that has no vector.

    :raises Damaged: the encoder refuses some of them, as it did not when they were committed
    """
    states = states_at(workshop.catalogue, version).values()
    failures = encode_apart(
        workshop, ((state.sha256, state.title, state.groups) for state in states)
    ).failures
    if failures:
        raise Damaged(f"{len(failures)} texts of version {version.number} cannot be encoded")


def _built(
    workshop: Workshop, archive: Archive, version: Version, identity: EncoderIdentity
) -> bool:
    """Build the generation; false where the vector cache had to be mended first."""
    try:
        _build(workshop, archive, version, identity)
    except CacheDamaged as error:
        workshop.cache.mend(error)
        return False
    return True


def _build(
    workshop: Workshop, archive: Archive, version: Version, identity: EncoderIdentity
) -> None:
    with progress_bar("Indexing", version.passages, "passages") as show:
        build_generation(
            archive,
            workshop.catalogue,
            workshop.cache,
            version,
            identity,
            centre_of(workshop.encoder, workshop.cache),
            progress=show,
        )
