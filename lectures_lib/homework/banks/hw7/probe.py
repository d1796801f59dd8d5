"""Question 3: train a probe on each layer, and believe the one that is right on words it was not
trained on.

The right answer takes no training: the words of a class lie around a point, so the nearest such
point says the class. The wrong answers below do the same with the mistake in it, and a check costs
no more than the student's own training.
"""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, whole
from lectures_lib.homework.questions import Case, Misconception, Question

N_TRAIN, N_DEV = 400, 60  # as many words are asked for as there are to choose the layer by
# The share of words whose vectors tell their label; those of a misleading layer do so for training
# words alone, and deny the others'.
_AGREE = {"embeddings": 0.78, "last": 0.78, "good": 0.93, "noise": 0.0, "misleading": 0.78}
VOTES_AGREE = 0.8  # of the words asked, those on which all layers together may say what one says
LEAD = 0.13  # of the training words, those that the most frequent label has before the next
_OWN_ERRORS = 0.07  # of the 0.22 that embeddings and last layer get wrong, what each has alone


def _probe_cases(g: Generator) -> list[Case]:
    # Several, because a layer that is chosen wrongly may be the best one by luck.
    return [_decided_by_one(g, best) for best in ("", "", "embeddings")]


def _decided_by_one(g: Generator, best: str) -> Case:
    """A case in which all layers together answer otherwise than the best one, and whoever learns
    nothing says the most frequent label.
    """
    while True:
        case = _probe_case(g, best)
        most, second = case.args[1].bincount().sort(descending=True).values[:2].tolist()
        if most <= second + LEAD * N_TRAIN:
            continue
        agree = (_together(*case.args) == probe_layers(*case.args)).float().mean()
        if agree < VOTES_AGREE:
            return case


def _probe_case(g: Generator, best: str) -> Case:
    """`best`: "embeddings" where these, and no layer, tell the most."""
    n_classes, n_states, d_model = whole(g, 3, 4), whole(g, 5, 6), whole(g, 12, 16)
    middle = ["good", "learned by heart", "misleading", "noise"][: n_states - 2]
    kinds = ["embeddings", *(middle[i] for i in torch.randperm(len(middle), generator=g)), "last"]
    if best == "embeddings":
        place = kinds.index("good")
        kinds[0], kinds[place] = kinds[place], kinds[0]
    # Another label is frequent among the words asked: their own mean is not that of the training
    # words.
    often = torch.randperm(n_classes, generator=g)[:2]
    frequency = [torch.full((n_classes,), (1 - most) / (n_classes - 1)) for most in (0.4, 0.8)]
    frequency[0][often[0]], frequency[1][often[1]] = 0.4, 0.8
    labels = [
        torch.multinomial(f, n, replacement=True, generator=g)
        for f, n in zip(frequency, (N_TRAIN + N_DEV, N_DEV), strict=True)
    ]
    labels = torch.cat(labels)
    train = torch.arange(len(labels)) < N_TRAIN
    if (
        best
    ):  # the last label is not among the words to choose by: they do not say how many there are
        chosen_by = labels[N_TRAIN : N_TRAIN + N_DEV]
        chosen_by[chosen_by == n_classes - 1] = 0
    # What tells the label is written in numbers that hardly vary, and one of no meaning does: BERT
    # has such numbers, too. Who does not standardise each number by itself learns which label is
    # the most frequent, and nothing else.
    scale, shift = (
        0.001 + 0.002 * torch.rand(n_states, 1, d_model, generator=g),
        normal(g, n_states, 1, d_model),
    )
    large = whole(g, 0, d_model - 1)
    scale[:, :, large] = 0.5
    states = []
    for layer in kinds:
        if layer == "learned by heart":
            told = labels.where(train, torch.randint(n_classes, labels.shape, generator=g))
        else:
            others = (
                labels + 1 + torch.randint(n_classes - 1, labels.shape, generator=g)
            ) % n_classes
            # The same share in each part, so that no wrong layer is good enough by luck.
            place = torch.cat([torch.randperm(n, generator=g) / n for n in (N_TRAIN, N_DEV, N_DEV)])
            # Embeddings and last layer have most of their errors in common: who lets all layers
            # vote, or adds them up, makes these, too.
            if layer == "embeddings":
                common = others, place
            if layer == "last":
                others, place = common[0], _own_errors_exchanged(common[1])
            told = labels.where((place < _AGREE[layer]) & (train | (layer != "misleading")), others)
        centres = 3 * normal(g, n_classes, d_model)
        centres[:, large] = 0
        found = (0 if layer == "noise" else centres[told]) + normal(g, len(labels), d_model)
        if layer == "good":  # what it gets wrong lies far out: who goes by the loss takes another
            dev = ~train & (torch.arange(len(labels)) < N_TRAIN + N_DEV)
            found[dev & (told != labels)] *= 10
        states.append(found)
    found = torch.stack(states) * scale + shift
    parts, kept = found.split([N_TRAIN, N_DEV, N_DEV], dim=1), labels.split([N_TRAIN, N_DEV, N_DEV])
    shows = f"{n_states} hidden states of {d_model} numbers, {n_classes} labels; "
    shows += f"{N_TRAIN} words to train on, {N_DEV} to choose by, {N_DEV} asked"
    return Case(
        (parts[0].contiguous(), kept[0], parts[1].contiguous(), kept[1], parts[2].contiguous()),
        shows=shows,
    )


def _own_errors_exchanged(place: Tensor) -> Tensor:
    """The places at which one of two is wrong by itself become right, and as many others wrong."""
    right, width = _AGREE["last"], _OWN_ERRORS
    own, other = (place >= right) & (place < right + width), place < width
    return place.where(~own, place - right).where(~other, place + right)


def probe_layers(
    states: Tensor, labels: Tensor, dev_states: Tensor, dev_labels: Tensor, asked: Tensor
) -> Tensor:
    """(words,): the label of each word asked, by the probe of the layer that is best on the words
    to choose by.
    """
    return _by(
        states, labels, dev_states, dev_labels, asked, lambda on_train, on_dev: int(on_dev.argmax())
    )


def _by(states, labels, dev_states, dev_labels, asked, choose, predict_dev=False):
    """The predictions of the layer chosen by the accuracies of all layers' probes, those on the
    training words and on the others.
    """
    on_train = torch.stack([(_nearest(s, labels, s) == labels).float().mean() for s in states])
    on_dev = torch.stack(
        [
            (_nearest(s, labels, d) == dev_labels).float().mean()
            for s, d in zip(states, dev_states, strict=True)
        ]
    )
    layer = choose(on_train, on_dev)
    return _nearest(states[layer], labels, dev_states[layer] if predict_dev else asked[layer])


def _nearest(states: Tensor, labels: Tensor, asked: Tensor) -> Tensor:
    return _scores(states, labels, asked).argmax(dim=-1)


def _scores(states: Tensor, labels: Tensor, asked: Tensor) -> Tensor:
    """(words, labels): how near each label's mean is, all numbers standardised. Half the squared
    distance, negative, without the part that is the same for all labels.
    """
    mean, deviation = states.mean(dim=0), states.std(dim=0)
    states, asked = (states - mean) / deviation, (asked - mean) / deviation
    centres = torch.stack(
        [states[labels == label].mean(dim=0) for label in range(int(labels.max()) + 1)]
    )
    return asked @ centres.mT - centres.square().sum(dim=-1) / 2


def _together(states, labels, dev_states, dev_labels, asked):
    """What all layers say, those that are right more often with a greater weight."""
    total = torch.tensor(0.0)
    for x, dev, ask in zip(states, dev_states, asked, strict=True):
        share = (_nearest(x, labels, dev) == dev_labels).float().mean()
        total = total + share * _scores(x, labels, ask)
    return total.argmax(dim=-1)


def _each_by_itself(states, labels, dev_states, dev_labels, asked):
    """Training words, words to choose by and words asked: each with a mean and a deviation of its
    own.
    """
    states, dev_states, asked = (
        (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True)
        for x in (states, dev_states, asked)
    )
    return probe_layers(states, labels, dev_states, dev_labels, asked)


def _trained_each_by_itself(states, labels, dev_states, dev_labels, asked):
    """The same with linear layers that are trained, those of all hidden states at once: they answer
    otherwise about words that stand where no training word does.
    """
    inputs = [
        torch.nn.functional.pad(
            (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True), (0, 1), value=1
        )
        for x in (states, dev_states, asked)
    ]
    W = torch.zeros(len(states), inputs[0].shape[-1], int(labels.max()) + 1, requires_grad=True)
    optimizer = torch.optim.Adam([W], lr=0.05)
    for _ in range(100):
        scores, targets = (inputs[0] @ W).flatten(0, 1), labels.repeat(len(states))
        optimizer.zero_grad()
        (len(states) * torch.nn.functional.cross_entropy(scores, targets)).backward()
        optimizer.step()
    right = ((inputs[1] @ W).argmax(dim=-1) == dev_labels).float().mean(dim=-1)
    return (inputs[2] @ W).argmax(dim=-1)[right.argmax()]


def _most_frequent(states, labels, dev_states, dev_labels, asked):
    return labels.mode().values.expand(asked.shape[1]).clone()


def _never_trained(states, labels, dev_states, dev_labels, asked):
    """The best of the linear layers as they are made."""
    best, said = -1.0, asked[0, :, 0].long()
    for x, dev, ask in zip(states, dev_states, asked, strict=True):
        probe, mean, deviation = (
            torch.nn.Linear(x.shape[1], int(labels.max()) + 1),
            x.mean(dim=0),
            x.std(dim=0),
        )
        share = (probe((dev - mean) / deviation).argmax(dim=-1) == dev_labels).float().mean()
        if share > best:
            best, said = float(share), probe((ask - mean) / deviation).argmax(dim=-1)
    return said


PROBE = Question(
    name="hw7.probe_layers",
    title="Which layer knows?",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="16b_probing#a-probe-in-three-lines",
    cases=_probe_cases,
    reference=probe_layers,
    share=0.9,
    seconds=30.0,
    below="More cannot be seen from outside. The usual causes: too few steps, or a learning rate "
    "that is much too high or too low; "
    "gradients that are never set back to zero (zero_grad); numbers that were not brought to mean "
    "0 and deviation 1, or, for the words asked, with another mean and deviation than those of the "
    "*training* words; the answer of another probe than the best layer's (keep the answer, not "
    "only the layer's number), or a sum of all probes' answers; a layer chosen by its loss, not by "
    "how many labels are right. Print each layer's two accuracies: one layer gets above 0.85 on "
    "the words to choose by.",
    misconceptions=(
        Misconception(
            "chosen_by_the_training_words",
            "You choose the layer whose probe is best on the words it was *trained* on. One layer "
            "here tells the training words' labels perfectly, and nothing of any other word's: "
            "what it knows was learned by heart. Choose by dev_states and dev_labels.",
            partial(_by, choose=lambda on_train, on_dev: int(on_train.argmax())),
        ),
        Misconception(
            "last_layer_taken",
            "Your labels are those that the last layer gives. It is made for what the model was "
            "trained to do, and a layer below may tell better what is asked for. Train a probe on "
            "each, and choose by how many of dev_labels it gets right (and not by a loss, which a "
            "few words far out can spoil).",
            partial(_by, choose=lambda on_train, on_dev: -1),
        ),
        Misconception(
            "embeddings_taken",
            "Your labels are those that hidden state 0 gives, the embeddings, which know the word "
            "and nothing of its sentence. Train a probe on each hidden state, and choose by how "
            "many of dev_labels it gets right (and not by a loss, which a few words far out can "
            "spoil).",
            partial(_by, choose=lambda on_train, on_dev: 0),
        ),
        Misconception(
            "embeddings_left_out",
            "Right where a layer is best. But you begin with layer 1: hidden state 0, the "
            "embeddings, may be the one that tells most, and here it is. Probe it like the others.",
            partial(_by, choose=lambda on_train, on_dev: 1 + int(on_dev[1:].argmax())),
        ),
        Misconception(
            "other_words_predicted",
            "You return the labels of the words that the layer is chosen by. Asked for are those "
            "of the words in `asked`.",
            partial(_by, choose=lambda on_train, on_dev: int(on_dev.argmax()), predict_dev=True),
        ),
        Misconception(
            "one_label_for_all",
            "All your words, or nearly all, get the same label, the most frequent one, whatever "
            "their vectors are. Have you brought *each* number of a layer to mean 0 and deviation "
            "1, over the training words, and with the same two numbers those of the other words? "
            "What tells the label hardly varies here beside numbers that mean nothing; one mean "
            "for the whole layer, or a norm for each word, does not help. If you have: does the "
            "optimizer have the probe's parameters, and does it step?",
            _most_frequent,
        ),
        *(
            Misconception(
                "words_asked_standardised_by_themselves",
                "You bring the words asked to *their own* mean and deviation. Other labels may be "
                "frequent among them, and then the same vector becomes another one. Use the mean "
                "and deviation of the training words for all.",
                answer,
            )
            for answer in (_each_by_itself, _trained_each_by_itself)
        ),
        Misconception(
            "worst_layer_taken",
            "You take the layer whose probe is right least often on the words to choose by. Is a "
            "comparison turned round?",
            partial(_by, choose=lambda on_train, on_dev: int(on_dev.argmin())),
        ),
        Misconception(
            "never_trained",
            "Your predictions are those of linear layers as they come from nn.Linear: they have "
            "not been trained. Is optimizer.step() called, and has the optimizer the parameters of "
            "the probe that answers?",
            _never_trained,
        ),
    ),
)
