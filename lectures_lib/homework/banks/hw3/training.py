"""Question 8: train a language model. Its predictions on sentences it has not seen are held against
a threshold.

The right answer is read off the data, and the wrong ones below do what models trained with that
mistake were seen to do: nothing is trained here, so that a check costs no more than the student's
own training.
"""

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.questions import Case, Misconception, Question

PADDING = 0
N_TEXTS, N_PROMPTS = 800, 60


def _training_cases(g: Generator) -> list[Case]:
    n_animals = whole(g, 8, 11)
    vocab_size = 1 + 2 * n_animals + 9
    words = pick(g, range(1, vocab_size), vocab_size - 1)
    animals, sounds, (places, verbs, signs) = (
        words[:n_animals],
        words[n_animals:-9],
        (words[-9:-6], words[-6:-3], words[-3:]),
    )

    def begun(n_others: int) -> list[int]:
        others = [
            word for _ in range(n_others) for word in (*pick(g, places, 1), *pick(g, animals, 1))
        ]
        return [*pick(g, animals, 1), *others, *pick(g, verbs, 1)]

    texts = [begun(whole(g, 0, 3)) for _ in range(N_TEXTS)]
    seen = set(map(tuple, texts))
    prompts: list[list[int]] = []
    while len(prompts) < N_PROMPTS:
        prompt = begun(1 + len(prompts) % 3)
        if tuple(prompt) not in seen:
            prompts.append(prompt)
    sound_of = dict(zip(animals, sounds, strict=True))
    sign_of = dict(zip(verbs, signs, strict=True))
    whole_texts = [[*text, sound_of[text[0]], sign_of[text[-1]]] for text in texts]
    shows = (
        f"{N_TEXTS} texts about {n_animals} animals, {vocab_size} words; {N_PROMPTS} prompts that "
        f"are not among them"
    )
    return [Case((_padded(whole_texts), _padded(prompts), vocab_size), shows=shows)]


def _padded(rows: list[list[int]]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row) for row in rows], batch_first=True, padding_value=PADDING
    )


def _lengths(tokens: Tensor) -> Tensor:
    return (tokens != PADDING).sum(dim=1)


def train_and_predict(texts: Tensor, prompts: Tensor, vocab_size: int) -> Tensor:
    """(n_prompts,): the sound of each prompt's first animal, which is what a trained model says."""
    return _that_goes_with(texts[:, 0], _from_the_end(texts, 2), vocab_size)[prompts[:, 0]]


def _from_the_end(tokens: Tensor, place: int) -> Tensor:
    """The last word of each row, the last but one, …, padding not counted."""
    return tokens[torch.arange(len(tokens)), _lengths(tokens) - place]


def _that_goes_with(these: Tensor, others: Tensor, vocab_size: int) -> Tensor:
    return torch.zeros(vocab_size, dtype=torch.long).scatter(0, these, others)


def _last_word(texts: Tensor, prompts: Tensor, vocab_size: int) -> Tensor:
    return _from_the_end(prompts, 1)


def _sign(texts: Tensor, prompts: Tensor, vocab_size: int) -> Tensor:
    """The word after the next: the sign that goes with the verb."""
    return _that_goes_with(_from_the_end(texts, 3), _from_the_end(texts, 1), vocab_size)[
        _from_the_end(prompts, 1)
    ]


def _padding(texts: Tensor, prompts: Tensor, vocab_size: int) -> Tensor:
    return torch.full((len(prompts),), PADDING)


def _padding_behind_short_prompts(texts: Tensor, prompts: Tensor, vocab_size: int) -> Tensor:
    longest = _lengths(prompts) == prompts.shape[1]
    return train_and_predict(texts, prompts, vocab_size).where(longest, PADDING)


def _row_behind(texts: Tensor, prompts: Tensor, vocab_size: int) -> Tensor:
    return prompts[torch.arange(len(prompts)), _lengths(prompts)]


TRAINING = Question(
    name="hw3.train_and_predict",
    title="A model that has read about animals",
    points=2,
    minutes=20,
    difficulty=2,
    chapter="10_language_model#training",
    cases=_training_cases,
    reference=train_and_predict,
    share=0.9,
    seconds=60.0,
    below="More cannot be seen from outside. The usual causes: gradients that are never set back "
    "to zero (zero_grad); an optimizer that "
    "never steps, or has other parameters than the model; a loss that counts padding; too few "
    "steps; a learning rate that is much too high or too low; predictions read from another row "
    "than that of each prompt's last word. Print the loss: a model that works gets below 1.5.",
    misconceptions=(
        Misconception(
            "last_word_repeated",
            "Your model repeats the prompt's last word, because it has learned to copy: each "
            "word's target was that word itself. Shift by one: it reads texts[:, :-1] and predicts "
            "texts[:, 1:].",
            _last_word,
        ),
        Misconception(
            "word_after_the_next",
            "Your model says the sign that belongs *behind* the sound: it predicts the word after "
            "the next. Mostly this means that the targets are shifted twice. Once is enough: "
            "texts[:, :-1] in, texts[:, 1:] out, and nothing cut from the logits. (A model that "
            "has been trained for a few steps only may say the same: is your loss below 1.5?)",
            _sign,
        ),
        Misconception(
            "padding_predicted",
            "Behind the longest prompts your predictions are right, behind the shorter ones they "
            "are padding: you read the last *column*, which is behind their end. Take the row of "
            "each prompt's last word; and leave padding out of the loss.",
            _padding_behind_short_prompts,
        ),
        Misconception(
            "not_a_number",
            "All your predictions are 0. That is what argmax gives for rows of NaN: the training "
            "has blown up. Print the loss; a lower learning rate helps, and zero_grad before every "
            "backward.",
            _padding,
        ),
        Misconception(
            "row_behind_the_last",
            "You take the row with the number of the prompt's *length*, one too far: rows count "
            "from 0, so the last word's row is length - 1.",
            _row_behind,
        ),
    ),
)
