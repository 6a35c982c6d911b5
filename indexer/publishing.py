"""From a committed version to the generation that is served."""

from __future__ import annotations

from indexer.progress import progress_bar
from indexer.texts import Workshop
from store.archive import Archive
from store.catalogue import Version
from store.centring import centre_of
from store.embedded import build_generation, wanted_inputs
from store.embedded.build import EncoderIdentity, generation_name
from store.generations import clean_up, is_served, is_sound
from store.generations import publish as serve


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
        with progress_bar("Indexing", version.passages, "passages") as show:
            build_generation(
                archive,
                workshop.catalogue,
                workshop.cache,
                version,
                identity,
                centre_of(encoder, workshop.cache),
                progress=show,
            )
    if publish and not is_served(archive, name):
        serve(archive, name)
        clean_up(archive)
    return name
