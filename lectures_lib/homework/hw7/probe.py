"""Question 3: train a probe on each layer, and believe the one that is right on words it was not trained on.

The right answer takes no training: the words of a class lie around a point, so the nearest such point says the class. The wrong
answers below do the same with the mistake in it, and a check costs no more than the student's own training.
"""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.hw1.inputs import normal
from lectures_lib.homework.hw3.inputs import whole
from lectures_lib.homework.questions import Case, Misconception, Question

N_TRAIN, N_DEV = 400, 60  # as many words are asked for as there are to choose the layer by
N_CASES = 3
_AGREE = {"embeddings": 0.78, "last": 0.78, "good": 0.93, "noise": 0.0}  # the share of words whose vectors tell their label


def _probe_cases(g: Generator) -> list[Case]:
    # Several, because a layer that is chosen wrongly may be the best one by luck.
    return [_probe_case(g) for _ in range(N_CASES)]


def _probe_case(g: Generator) -> Case:
    n_classes, n_states, d_model = whole(g, 3, 4), whole(g, 4, 6), whole(g, 12, 16)
    middle = ["good", "learned by heart", "noise", "noise"][: n_states - 2]
    kinds = ["embeddings", *(middle[i] for i in torch.randperm(len(middle), generator=g)), "last"]
    frequency = torch.tensor([0.4] + [0.6 / (n_classes - 1)] * (n_classes - 1))[torch.randperm(n_classes, generator=g)]
    labels = torch.multinomial(frequency, N_TRAIN + 2 * N_DEV, replacement=True, generator=g)
    train = torch.arange(len(labels)) < N_TRAIN
    scale, shift = 0.5 + torch.rand(n_states, 1, d_model, generator=g), 3 * normal(g, n_states, 1, d_model)
    large = whole(g, 0, d_model - 1)
    scale[:, :, large] *= 20  # BERT has such numbers, too: large, and of no meaning
    states = []
    for kind in kinds:
        if kind == "learned by heart":
            told = labels.where(train, torch.randint(n_classes, labels.shape, generator=g))
        else:
            others = (labels + 1 + torch.randint(n_classes - 1, labels.shape, generator=g)) % n_classes
            # The same share in each part, so that no wrong layer is good enough by luck.
            place = torch.cat([torch.randperm(n, generator=g) / n for n in (N_TRAIN, N_DEV, N_DEV)])
            told = labels.where(place < _AGREE[kind], others)
        centres = 3 * normal(g, n_classes, d_model)
        centres[:, large] = 0
        states.append((0 if kind == "noise" else centres[told]) + normal(g, len(labels), d_model))
    found = torch.stack(states) * scale + shift
    parts, kept = found.split([N_TRAIN, N_DEV, N_DEV], dim=1), labels.split([N_TRAIN, N_DEV, N_DEV])
    shows = f"{n_states} hidden states of {d_model} numbers, {n_classes} labels; "
    shows += f"{N_TRAIN} words to train on, {N_DEV} to choose by, {N_DEV} asked"
    return Case((parts[0].contiguous(), kept[0], parts[1].contiguous(), kept[1], parts[2].contiguous()), shows=shows)


def probe_layers(states: Tensor, labels: Tensor, dev_states: Tensor, dev_labels: Tensor, asked: Tensor) -> Tensor:
    """(words,): the label of each word asked, by the probe of the layer that is best on the words to choose by."""
    return _by(states, labels, dev_states, dev_labels, asked, lambda on_train, on_dev: int(on_dev.argmax()))


def _by(states, labels, dev_states, dev_labels, asked, choose, predict_dev=False):
    """The predictions of the layer chosen by the accuracies of all layers' probes, those on the training words and on the others."""
    on_train = torch.stack([(_nearest(s, labels, s) == labels).float().mean() for s in states])
    on_dev = torch.stack([(_nearest(s, labels, d) == dev_labels).float().mean() for s, d in zip(states, dev_states, strict=True)])
    layer = choose(on_train, on_dev)
    return _nearest(states[layer], labels, dev_states[layer] if predict_dev else asked[layer])


def _nearest(states: Tensor, labels: Tensor, asked: Tensor) -> Tensor:
    mean, deviation = states.mean(dim=0), states.std(dim=0)
    states, asked = (states - mean) / deviation, (asked - mean) / deviation
    centres = torch.stack([states[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)])
    return torch.cdist(asked, centres).argmin(dim=-1)


def _most_frequent(states, labels, dev_states, dev_labels, asked):
    return labels.mode().values.expand(asked.shape[1]).clone()


PROBE = Question(
    name="hw7.probe_layers",
    title="Which layer knows?",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="16_what_bert_learns#probes",
    cases=_probe_cases,
    reference=probe_layers,
    share=0.9,
    seconds=30.0,
    below="More cannot be seen from outside. The usual causes: too few steps, or a learning rate that is much too high or too low; "
    "gradients that are never set back to zero (zero_grad); numbers that were not brought to mean 0 and deviation 1, or, for the words "
    "asked, with another mean and deviation than those of the *training* words. Print each layer's two accuracies: one layer gets above "
    "0.85 on the words to choose by.",
    misconceptions=(
        Misconception(
            "chosen_by_the_training_words",
            "You choose the layer whose probe is best on the words it was *trained* on. One layer here tells the training words' labels "
            "perfectly, and nothing of any other word's: what it knows was learned by heart. Choose by dev_states and dev_labels.",
            partial(_by, choose=lambda on_train, on_dev: int(on_train.argmax())),
        ),
        Misconception(
            "last_layer_taken",
            "You probe the last layer. It is made for what the model was trained to do, and a layer below may tell better what is asked "
            "for. Train a probe on each, and choose by dev_states and dev_labels.",
            partial(_by, choose=lambda on_train, on_dev: -1),
        ),
        Misconception(
            "embeddings_taken",
            "You probe hidden state 0, the embeddings, which know the word and nothing of its sentence. Train a probe on each hidden "
            "state, and choose by dev_states and dev_labels.",
            partial(_by, choose=lambda on_train, on_dev: 0),
        ),
        Misconception(
            "other_words_predicted",
            "You return the labels of the words that the layer is chosen by. Asked for are those of the words in `asked`.",
            partial(_by, choose=lambda on_train, on_dev: int(on_dev.argmax()), predict_dev=True),
        ),
        Misconception(
            "one_label_for_all",
            "All your words get the same label, the most frequent one. The probe has learned nothing from the vectors: does the optimizer "
            "have its parameters, and does it step?",
            _most_frequent,
        ),
    ),
)
