"""The figures of the pages "Type your own": the course's models at work on what the reader types.

They are listed in the order of the pages, and made in the modules that are imported here. Each function gives
what its script in book/live must know, and an example that the library makes while the site is
built: what stands there without scripts, and on paper.
"""

from agreement import agreement
from figure_of_a_cache import remembering
from figure_of_dates import dates_by_letter
from figures_of_bert import filler, nearness, pieces, reader, senses
from figures_of_images import digits
from figures_of_tasks import answers, entities, sentiment, similarity
from figures_of_writing import beams, translator, writer
from hiding import hiding
from probes import probes
from sentence_map import sentence_map

# In the order of the pages.
FIGURES = {
    "translator": translator,
    "beams": beams,
    "writer": writer,
    "dates": dates_by_letter,
    "remembering": remembering,
    "pieces": pieces,
    "filler": filler,
    "agreement": agreement,
    "hiding": hiding,
    "sentiment": sentiment,
    "similarity": similarity,
    "entities": entities,
    "answers": answers,
    "reader": reader,
    "senses": senses,
    "probes": probes,
    "nearness": nearness,
    "sentence_map": sentence_map,
    "digits": digits,
}
# The pages that book/live.md leads to, and on each the address of every figure's section.
PAGES = {
    "book/your_own/writing": {
        "a-translator": "translator",
        "a-beam": "beams",
        "a-writer": "writer",
        "a-date-letter-by-letter": "dates",
        "a-cache-at-work": "remembering",
    },
    "book/your_own/holes": {
        "words-in-pieces": "pieces",
        "a-bert-that-fills-holes": "filler",
        "which-of-two-words": "agreement",
        "hide-more-and-more": "hiding",
    },
    "book/your_own/tasks": {
        "praise-or-complaint": "sentiment",
        "how-alike-are-two-sentences": "similarity",
        "names-in-a-message": "entities",
        "a-question-about-a-text": "answers",
    },
    "book/your_own/inside": {
        "where-a-bert-looks": "reader",
        "one-word-two-sentences": "senses",
        "a-sentence-read-by-probes": "probes",
    },
    "book/your_own/sentences": {
        "near-by-meaning": "nearness",
        "a-map-of-sentences": "sentence_map",
    },
    "book/your_own/pictures": {
        "a-vit-that-reads-your-digit": "digits",
    },
}
