"""What the hub's tables call by many names, under one: rows of labelled data sets turned into
examples.

Each function takes one row, as a dictionary, and gives one example, as `lectures_lib.data.load`
lists them.
"""


def sentence(row: dict) -> dict:
    """{"text", "label"}, from SST-2 and CoLA."""
    return {"text": row["sentence"].strip(), "label": row["label"]}


def sentence_pair(row: dict) -> dict:
    """{"first", "second", "label"}, from RTE."""
    return {"first": row["sentence1"], "second": row["sentence2"], "label": row["label"]}


def question_and_sentence(row: dict) -> dict:
    """{"first", "second", "label"}, from QNLI: does the sentence answer the question?"""
    return {"first": row["question"], "second": row["sentence"], "label": row["label"]}


def scored_pair(row: dict) -> dict:
    """{"first", "second", "score"}, from STS-B: the score is a number from 0 to 5."""
    return {"first": row["sentence1"], "second": row["sentence2"], "score": float(row["label"])}


def choice(row: dict) -> dict:
    """{"start", "endings", "label"}, from SWAG: the start includes the words with which each of the
    four endings begins.
    """
    return {
        "start": row["startphrase"],
        "endings": [row[f"ending{i}"] for i in range(4)],
        "label": row["label"],
    }


def tagged_words(row: dict) -> dict:
    """{"words", "labels"}, from WNUT-17: the labels are names, as "B-person"."""
    return {"words": row["tokens"], "labels": row["ner_tags"]}


def question(row: dict) -> dict:
    """{"question", "context", "answers"}, from SQuAD: each answer with its text and the character
    where it starts; [] is "no answer".
    """
    found = row["answers"]
    answers = [
        {"text": text, "start": start}
        for text, start in zip(found["text"], found["answer_start"], strict=True)
    ]
    return {"question": row["question"], "context": row["context"], "answers": answers}


def dependency_tree(row: dict) -> dict:
    """{"words", "upos", "heads", "relations"}, from Universal Dependencies.

    Only words stay. The table also has a line for a span of them that is written as one ("don't",
    before "do" and "n't"; its part of speech is "_") and a line for a word that was left out (its
    head is "_"). Neither is counted when heads are numbered, so what stays is numbered 1, 2, 3 …
    without gaps.
    """
    upos, heads = row["upos"], row["head"]
    kept = [i for i in range(len(upos)) if upos[i] != "_" and str(heads[i]).isdigit()]
    return {
        "words": [row["tokens"][i] for i in kept],
        "upos": [upos[i] for i in kept],
        "heads": [int(heads[i]) for i in kept],
        "relations": [row["deprel"][i] for i in kept],
    }
