"""The questions, in the order of the chapters. Every number of a solution is computed here, with
torch or the library where the chapter has the code for it.
"""

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random

import torch

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.exam.question import Drawn, Question
from lectures_lib.metrics.classification import matthews, precision_recall_f1
from lectures_lib.metrics.entities import entities, entity_scores

QUESTIONS: list[Question] = []


def _asked(title: str, chapter: int, points: int) -> Callable:
    """Put a function that draws into the list, under its own name."""

    def listed(draw: Callable[[Random], Drawn]) -> Callable[[Random], Drawn]:
        QUESTIONS.append(Question(draw.__name__, title, chapter, points, draw))
        return draw

    return listed


def _row(numbers: torch.Tensor, digits: int = 2) -> str:
    return "(" + ", ".join(f"{x:.{digits}f}" for x in numbers.tolist()) + ")"


@_asked("A chain, or a look", 1, 4)
def chain_or_look(chance: Random) -> Drawn:
    """Steps one after another: n against one."""
    n = chance.choice([20, 50, 128])
    return Drawn(
        f"A sentence has {n} words. How many steps must a GRU layer take one after the other, and "
        f"how many a self-attention layer, if a machine can do everything at once that does not "
        f"wait for something else? How many scores does the attention layer compute? When is the "
        f"GRU the cheaper one all the same?",
        f"{n} steps against one (score, softmax, average: a fixed number that does not grow with "
        f"the sentence). Scores: {n} · {n} = {n * n}. The GRU's work grows with n, the "
        f"attention's with n²: for long texts on a machine that cannot do much at once the GRU "
        f"has less to compute.",
    )


@_asked("Attention by hand", 2, 8)
def attention_by_hand(chance: Random) -> Drawn:
    """Three keys, one query, d_k = 4."""
    q = torch.tensor([2.0, 0.0, 2.0, 0.0])
    K = torch.tensor([[chance.choice([0.0, 1.0, 2.0]) for _ in range(4)] for _ in range(3)])
    V = torch.tensor([[4.0, 0.0], [0.0, 4.0], [chance.choice([4.0, 8.0]), 4.0]])
    scores = K @ q / math.sqrt(4)
    weights = scores.softmax(dim=-1)
    keys = ", ".join(_row(k, 0) for k in K)
    return Drawn(
        f"A query is {_row(q, 0)}. The three keys are {keys}, their values "
        f"{', '.join(_row(v, 0) for v in V)}. Compute the scaled scores, the weights and the "
        f"output. What changes if 5 is added to all three scores?",
        f"Scores, divided by √4 = 2: {_row(scores)}. Weights: {_row(weights)}. Output: the "
        f"weighted mean of the values, {_row(weights @ V)}. Adding 5 changes nothing: $e^5$ is a "
        f"factor of every term, above and below.",
    )


@_asked("What may be seen", 2, 6)
def what_may_be_seen(chance: Random) -> Drawn:
    """A causal mask joined with padding."""
    n = chance.choice([4, 5])
    length = n - chance.choice([1, 2])
    mask = causal_mask(n) & (torch.arange(n) < length)
    table = "; ".join("".join(str(int(x)) for x in row) for row in mask)
    return Drawn(
        f"A decoder reads a sentence of {length} words that is filled up to {n}. Write the mask "
        f"(1 = may be looked at) that joins causality and padding, rows for queries. How many "
        f"ones has it? The scores are all equal: what weights has the last row?",
        f"{table}. It has {int(mask.sum())} ones. In the last row {length} keys are open, each "
        f"with the weight 1/{length} = {1 / length:.2f}. (It belongs to a padded place; nobody "
        f"should read its output.)",
    )


@_asked("A mask that comes too late", 2, 6)
def mask_too_late(chance: Random) -> Drawn:
    """Masking after the softmax loses what the hidden keys took."""
    scores = torch.tensor([1.0, 2.0, float(chance.choice([3, 4]))])
    late = scores.softmax(dim=-1) * torch.tensor([1.0, 1.0, 0.0])
    right = torch.cat([scores[:2].softmax(dim=-1), torch.zeros(1)])
    return Drawn(
        f"Three scores are {_row(scores, 0)}, and the third key must not be looked at. One program "
        f"sets its score to minus infinity, another sets its *weight* to zero after the softmax. "
        f"Give both results and say what is wrong with the second.",
        f"Before: {_row(right)}, which sums to 1. After: {_row(late)}, which sums to "
        f"{late.sum():.2f}: what the hidden key had taken is lost, and the output becomes shorter "
        f"by this factor. The ratio of the first two is right in both.",
    )


@_asked("Shapes of heads", 3, 6)
def shapes_of_heads(chance: Random) -> Drawn:
    """Shapes from the input to the output, and the parameters."""
    h = chance.choice([4, 8, 12])
    d = h * chance.choice([16, 32, 64])
    batch, n = chance.choice([2, 8]), chance.choice([10, 24])
    return Drawn(
        f"Multi-head attention with h = {h} and d_model = {d} reads a batch of {batch} sentences "
        f"of {n} words. Give the shapes of Q after the projection, of Q cut into heads, of the "
        f"weights and of the output. How many parameters have the four matrices, without biases?",
        f"({batch}, {n}, {d}); ({batch}, {h}, {n}, {d // h}); ({batch}, {h}, {n}, {n}); "
        f"({batch}, {n}, {d}). Parameters: 4 · {d}² = {4 * d * d:,}, whatever h is.",
    )


@_asked("One head or two", 3, 5)
def one_head_or_two(chance: Random) -> Drawn:
    """Why averages cannot replace concatenation."""
    a, b = chance.sample([(1, 0), (0, 1), (1, 1)], 2)
    mean = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    return Drawn(
        f"The word on the left has the value {a}, the one on the right {b}. One head gives each "
        f"half of its attention. Two heads look left and right. Write down the results, and those "
        f"with left and right exchanged. Which can tell the two sentences apart?",
        f"One head: {tuple(mean)} both times. Two heads: {a + b}, and exchanged {b + a}. Only "
        f"what is put side by side still tells who was where.",
    )


@_asked("A position as clocks", 4, 6)
def a_position_as_clocks(chance: Random) -> Drawn:
    """The sinusoidal vector of a small position, and a dot product."""
    p, k = chance.choice([1, 2, 3]), chance.choice([1, 2])
    PE = sinusoidal_positions(p + k + 1, 4)
    dot = math.cos(k) + math.cos(k / 100)
    return Drawn(
        f"With d_model = 4 the two speeds are 1 and 1/100. Write down the vector of position {p} "
        f"(sine before cosine) and show that its dot product with the vector of position {p + k} "
        f"depends on {k} only. How large is it?",
        f"{_row(PE[p])}. For each pair sin a sin b + cos a cos b = cos(a − b), so the product is "
        f"cos {k} + cos {k / 100:g} = {dot:.3f}, without {p}.",
    )


@_asked("A row, normalised", 5, 6)
def a_row_normalised(chance: Random) -> Drawn:
    """LayerNorm of four numbers."""
    step = chance.choice([1.0, 2.0, 3.0])
    x = torch.tensor([-3.0, -1.0, 1.0, 3.0]) * step + chance.choice([2.0, 5.0])
    y = torch.nn.functional.layer_norm(x, (4,))
    variance = x.var(unbiased=False)
    return Drawn(
        f"Normalise {_row(x, 0)} as LayerNorm does (ε left out, scale 1, shift 0). What comes out "
        f"for ten times these numbers? Which numbers would BatchNorm have taken the mean of?",
        f"Mean {x.mean():g}, variance {variance:g}, so {_row(y)}; the same for ten times the "
        f"numbers. BatchNorm takes the mean of one feature over all words of the batch, not of "
        f"one word over its features.",
    )


@_asked("A block, counted", 5, 6)
def a_block_counted(chance: Random) -> Drawn:
    """The parameters of an encoder block."""
    d = chance.choice([128, 256, 512])
    attention, feed_forward, norms = 4 * d * d, 8 * d * d + 5 * d, 4 * d
    return Drawn(
        f"How many parameters has an encoder block with d_model = {d} and d_ff = {4 * d}? "
        f"Attention without biases, feed-forward with, two LayerNorms. Which share has "
        f"feed-forward?",
        f"Attention 4 · {d}² = {attention:,}; feed-forward 2 · {d} · {4 * d} + {4 * d} + {d} = "
        f"{feed_forward:,}; norms 2 · 2 · {d} = {norms:,}; together "
        f"{attention + feed_forward + norms:,}. Feed-forward has "
        f"{feed_forward / (attention + feed_forward + norms):.0%}.",
    )


@_asked("Gradients through a stack", 5, 5)
def gradients_through_a_stack(chance: Random) -> Drawn:
    """A product of derivatives with and without the plus sign."""
    depth, slope = chance.choice([10, 12, 20]), chance.choice([0.2, 0.5])
    return Drawn(
        f"Each of {depth} layers computes f(x) = {slope} x. How large is the derivative of the "
        f"output by the input? And with x + f(x)? Which problem does each have, and what does the "
        f"norm on the branch do about the second?",
        f"{slope}^{depth} = {slope**depth:.1e}: it vanishes. {1 + slope:g}^{depth} = "
        f"{(1 + slope) ** depth:.1f}: it grows with depth. A norm divides by the length of the "
        f"stream, so the longer the stream has become, the less a layer adds in proportion.",
    )


@_asked("Where do Q, K and V come from?", 6, 5)
def where_from(chance: Random) -> Drawn:
    """The three attentions of a Transformer and their shapes."""
    n, m = chance.sample([5, 7, 9, 12], 2)
    return Drawn(
        f"The source has {n} words, the target so far {m}. For each of the three attentions of a "
        f"Transformer say where queries, keys and values come from, which masks apply, and what "
        f"shape the table of weights has.",
        f"Encoder self-attention: all three from the source, padding mask, {n} × {n}. Decoder "
        f"self-attention: all three from the target, causal mask (and padding), {m} × {m}. "
        f"Cross-attention: queries from the decoder, keys and values from the encoder's output, "
        f"the source's padding mask, {m} × {n}.",
    )


@_asked("One to the right", 6, 5)
def one_to_the_right(chance: Random) -> Drawn:
    """Input and target of a decoder in training."""
    word = chance.choice(["cat", "sun", "map"])
    read, predicted = ["BEGIN", *word], [*word, "END"]
    return Drawn(
        f'A decoder learns to write "{word}", letter by letter. What does it read, and what must '
        f"it predict at each place? What will the training loss do if the two are not shifted "
        f"against each other, and what does the model write then?",
        f"It reads {', '.join(read)} and predicts {', '.join(predicted)}. Without the shift it is "
        f"shown at each place what it has to predict: the loss goes to zero, nothing is learned, "
        f"and in use, where it reads what it wrote, it can only repeat what it is given.",
    )


@_asked("Byte pairs", 7, 7)
def byte_pairs(chance: Random) -> Drawn:
    """The first merge, with its count."""
    counts = {"low": chance.randint(4, 6), "lower": 2, "newest": chance.randint(7, 9), "widest": 3}
    pairs = Counter()
    for word, n in counts.items():
        for pair in pairwise(word):
            pairs[pair] += n
    most = max(pairs.values())
    best = sorted("".join(pair) for pair, n in pairs.items() if n == most)
    return Drawn(
        f"A corpus has {', '.join(f'{w} {n} times' for w, n in counts.items())}. Which pairs of "
        f"neighbouring letters are the most frequent, and how often do they occur? Name one that "
        f"may be merged first. How is *newest* written after merging *es*, then *est*?",
        f"{', '.join(best)}: {most} times each. Ties are broken by a rule; any of them is "
        f"right. After the two merges: n e w est.",
    )


@_asked("The longest piece first", 7, 4)
def longest_piece_first(chance: Random) -> Drawn:
    """WordPiece by greedy longest match."""
    word, pieces = chance.choice(
        [
            ("unhappiness", ["un", "##happi", "##ness"]),
            ("playfully", ["play", "##ful", "##ly"]),
            ("rereading", ["re", "##read", "##ing"]),
        ]
    )
    return Drawn(
        f"A vocabulary holds {', '.join(pieces)}, and every single letter, at the beginning of a "
        f"word and inside it. How does WordPiece write *{word}*? And *{word}* with a letter that "
        f"the vocabulary lacks in its middle?",
        f"{' '.join(pieces)}: from the left, the longest piece that fits (single letters would "
        f"do, too, but are shorter). With an unknown letter the whole word becomes [UNK].",
    )


@_asked("Smoothed labels", 8, 6)
def smoothed_labels(chance: Random) -> Drawn:
    """The loss with label smoothing, spread over all words."""
    n, epsilon = chance.choice([4, 5]), 0.1
    p = torch.tensor([0.7] + [0.3 / (n - 1)] * (n - 1))
    target = torch.full((n,), epsilon / n)
    target[0] += 1 - epsilon
    plain, smooth = -p[0].log(), -(target * p.log()).sum()
    return Drawn(
        f"Of {n} words a model gives the right one 0.7 and the others equal shares. Compute the "
        f"cross-entropy, and the one with label smoothing ε = 0.1 (spread over all {n} words). "
        f"What share for the right word makes the smoothed loss smallest?",
        f"−ln 0.7 = {plain:.3f}. The wanted shares are {target[0]:.3f} and {target[1]:.3f}, the "
        f"loss {smooth:.3f}. It is smallest where the model gives the wanted shares: "
        f"{target[0]:.3f}, not 1.",
    )


@_asked("Warming up", 8, 5)
def warming_up(chance: Random) -> Drawn:
    """The paper's schedule at three steps."""
    d, warm = chance.choice([256, 512]), 4000

    def rate(step):
        return d**-0.5 * min(step**-0.5, step * warm**-1.5)

    late = chance.choice([16_000, 36_000])
    return Drawn(
        f"The paper's rate is d^(−1/2) · min(step^(−1/2), step · {warm}^(−3/2)), with d = {d}. "
        f"How large is it at step 1,000, at its top, and at step {late:,}?",
        f"{rate(1000):.2e}; at step {warm:,} {rate(warm):.2e}, four times as much; "
        f"{rate(late):.2e}, the top divided by √({late}/{warm}) = {math.sqrt(late / warm):g}.",
    )


@_asked("Two kinds of cutting off", 9, 6)
def two_kinds_of_cutting(chance: Random) -> Drawn:
    """Top-k and top-p on one distribution."""
    p = torch.tensor(chance.choice([[0.5, 0.2, 0.15, 0.1, 0.05], [0.4, 0.3, 0.15, 0.1, 0.05]]))
    k, top_p = 2, 0.8
    kept = int((p.cumsum(0) - p < top_p).sum())
    return Drawn(
        f"The next word has the probabilities {_row(p)}. Which remain, and with which "
        f"probabilities, with top-k, k = {k}, and with top-p, p = {top_p}? In which situation do "
        f"the two differ most?",
        f"k = {k}: {_row(p[:k] / p[:k].sum())}. p = {top_p}: the first {kept} (the fewest that "
        f"reach {top_p}), {_row(p[:kept] / p[:kept].sum())}. Where the model is sure, top-p keeps "
        f"one word and top-k still k; where it is not, top-p keeps many.",
    )


@_asked("Greedy, or two beams", 9, 7)
def greedy_or_beams(chance: Random) -> Drawn:
    """A tree of two steps in which greedy loses."""
    a, b = 0.6, 0.4
    after_a, after_b = chance.choice([0.4, 0.5]), 0.9
    return Drawn(
        f"The first word is A with {a} or B with {b}. After A the likeliest second word has "
        f"{after_a}, after B {after_b}. What do greedy decoding and beam search of width 2 write, "
        f"with which probability? Give the scores as sums of natural logarithms. Why are "
        f"logarithms added instead of multiplying probabilities?",
        f"Greedy takes A: {a} · {after_a} = {a * after_a:.2f}, ln = {math.log(a * after_a):.2f}. "
        f"The beam keeps both and finds B: {b} · {after_b} = {b * after_b:.2f}, ln = "
        f"{math.log(b * after_b):.2f}. Products of many probabilities fall below what a computer "
        f"can hold; sums of logarithms do not.",
    )


@_asked("The price of a cache", 9, 5)
def price_of_a_cache(chance: Random) -> Drawn:
    """Bytes of keys and values."""
    layers, d, n, batch = chance.choice([12, 24]), chance.choice([768, 1024]), 2048, 8
    size = 2 * layers * n * d * batch * 2
    return Drawn(
        f"A model has {layers} layers of width {d} and writes {batch} texts of {n} tokens at once. "
        f"How many bytes do the cached keys and values take at two bytes a number? What would be "
        f"computed again for each token without the cache?",
        f"2 · {layers} · {n} · {d} · {batch} · 2 bytes = {size:,} bytes, {size / 2**30:.2f} GiB. "
        f"Without it, keys and values of all earlier tokens, in every layer, for every new token.",
    )


@_asked("Nats and perplexity", 10, 5)
def nats_and_perplexity(chance: Random) -> Drawn:
    """From nats a token to nats a character."""
    loss, characters = chance.choice([3.2, 3.6, 4.0]), chance.choice([4, 5])
    return Drawn(
        f"A language model has a loss of {loss} nats a token, and a token has {characters} "
        f"characters on average. Give its perplexity and its loss in nats a character. Another "
        f"model, with letters as tokens, has 1.0 nats. Which is better, and why must one not "
        f"compare the perplexities?",
        f"Perplexity $e^{{{loss}}}$ = {math.exp(loss):.1f} a token; {loss} / {characters} = "
        f"{loss / characters:.2f} nats a character, "
        f"{'better' if loss / characters < 1 else 'worse'} than 1.0. Perplexities count choices "
        f"among different units: {math.exp(1):.2f} among letters, {math.exp(loss):.1f} among "
        f"pieces.",
    )


@_asked("Patches", 11, 5)
def patches(chance: Random) -> Drawn:
    """How many tokens an image becomes, and the numbers of the first matrix."""
    side, patch, d = chance.choice([(224, 16, 768), (32, 4, 192), (28, 7, 64)])
    n, channels = (side // patch) ** 2, 1 if side == 28 else 3
    return Drawn(
        f"A ViT cuts images of {side} × {side} pixels with {channels} "
        f"{'channel' if channels == 1 else 'channels'} into patches of "
        f"{patch} × {patch}, d_model = {d}. How many tokens enter the encoder, with the class "
        f"token? How many numbers has the matrix of the patch embedding? What happens to the cost "
        f"of attention when the patches are half as wide?",
        f"{side // patch}² = {n} patches and one class token: {n + 1}. {patch}² · {channels} · {d} "
        f"= {patch * patch * channels * d:,}. Four times as many tokens, about sixteen times as "
        f"many scores.",
    )


@_asked("BERT, counted", 12, 7)
def bert_counted(chance: Random) -> Drawn:
    """The embeddings' share of BERT."""
    vocab, d, layers = 30_522, *chance.choice([(768, 12), (1024, 24)])
    embeddings = (vocab + 512 + 2) * d + 2 * d
    block = 12 * d * d + 13 * d
    total = embeddings + layers * block + d * d + d
    return Drawn(
        f"BERT has {vocab:,} word pieces, 512 positions, 2 segments, {layers} layers, d_model = "
        f"{d}, d_ff = 4 · d_model, biases everywhere, a norm after the embeddings and a pooler "
        f"(one square matrix with bias). How many parameters has it, to the nearest million? Which "
        f"share are word vectors?",
        f"Embeddings with their norm {embeddings:,}; a block 12 d² + 13 d = {block:,}, {layers} of "
        f"them {layers * block:,}; pooler {d * d + d:,}. Together {total:,}, about "
        f"{total / 1e6:.0f} million; word vectors {vocab * d / total:.0%}.",
    )


@_asked("Holes", 13, 6)
def holes(chance: Random) -> Drawn:
    """Expected numbers in BERT's masking."""
    n = chance.choice([200, 400, 512])
    asked = 0.15 * n
    return Drawn(
        f"A text has {n} tokens that may be chosen. How many are expected to be chosen, to become "
        f"[MASK], another word, and to stay? In how many places of the input does one see that "
        f"something was done, and at how many is a loss computed? Why are some left as they are?",
        f"Chosen {asked:g}; [MASK] {0.8 * asked:g}, another word {0.1 * asked:g}, unchanged "
        f"{0.1 * asked:g}. The input differs in at most {0.9 * asked:g} places (a random word "
        f"may be the same), the loss counts all {asked:g}. In use there is no [MASK]: a model that "
        f"need only predict where it sees one would have no reason to care for the others.",
    )


@_asked("Accuracy, and what it hides", 14, 6)
def what_accuracy_hides(chance: Random) -> Drawn:
    """F1 and Matthews of a skewed test."""
    hits, misses, false = chance.choice([(6, 4, 4), (5, 5, 5), (8, 2, 6)])
    right = [1] * (hits + misses) + [0] * 90
    said = [1] * hits + [0] * misses + [1] * false + [0] * (90 - false)
    scores = precision_recall_f1(said, right)
    accuracy = (hits + 90 - false) / 100
    return Drawn(
        f"Of 100 texts 10 are spam. A filter marks {hits} of them, and {false} others. Give "
        f"accuracy, precision, recall and F1 for spam, and the accuracy of a filter that marks "
        f"nothing. Matthews' correlation is {matthews(said, right):.2f} for the first: what is it "
        f"worth for the second?",
        f"Accuracy {accuracy:.2f}; precision {hits}/{hits + false} = {scores.precision:.2f}, "
        f"recall {hits}/10 = {scores.recall:.2f}, F1 {scores.f1:.2f}. Marking nothing: 0.90, "
        f"which shows little. Its Matthews correlation is 0 by convention: it tells nothing apart.",
    )


@_asked("Names, not words", 14, 6)
def names_not_words(chance: Random) -> Drawn:
    """Entity F1 from BIO labels."""
    right = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG"]
    said = chance.choice(
        [
            ["B-PER", "O", "O", "B-LOC", "O", "B-ORG"],
            ["B-PER", "I-PER", "O", "B-ORG", "O", "O"],
        ]
    )
    scores = entity_scores([said], [right])
    words = sum(a == b for a, b in zip(said, right, strict=True))
    return Drawn(
        f"Right labels: {' '.join(right)}. Predicted: {' '.join(said)}. How many words are right? "
        f"Give precision, recall and F1 of the *entities*. Why is the second stricter?",
        f"{words} of 6 words. Entities predicted {len(entities(said))}, right among them "
        f"{round(scores.precision * len(entities(said)))}; there are 3. Precision "
        f"{scores.precision:.2f}, recall {scores.recall:.2f}, F1 {scores.f1:.2f}. An entity counts "
        f"only with all its words and its kind.",
    )


@_asked("A control for a probe", 16, 5)
def control_for_a_probe(chance: Random) -> Drawn:
    """Selectivity of two probes."""
    small, large = (0.92, chance.choice([0.55, 0.6])), (0.96, chance.choice([0.88, 0.9]))
    return Drawn(
        f"A linear probe finds parts of speech with {small[0]}, a large network with {large[0]}. "
        f"With control labels, drawn once at random for each word type, they reach {small[1]} and "
        f"{large[1]}. Which selectivity has each? Which number says more about the vectors?",
        f"{small[0]} − {small[1]} = {small[0] - small[1]:.2f} and {large[0]} − {large[1]} = "
        f"{large[0] - large[1]:.2f}. The large probe can learn words by heart, so its accuracy "
        f"says little about what the vectors hold; the linear one's says more.",
    )


@_asked("The others are the wrong answers", 17, 7)
def in_batch_negatives(chance: Random) -> Drawn:
    """The contrastive loss of two pairs."""
    scale = chance.choice([5, 10])
    cosines = torch.tensor([[0.9, 0.5], [0.6, chance.choice([0.8, 0.7])]])
    loss = torch.nn.functional.cross_entropy(scale * cosines, torch.arange(2), reduction="none")
    return Drawn(
        f"Two pairs of sentences have the cosines {_row(cosines[0], 1)} (first sentence of pair 1 "
        f"with both second sentences) and {_row(cosines[1], 1)} (of pair 2). Compute the loss with "
        f"in-batch negatives, cosines times {scale}. What happens to it if both second sentences "
        f"are the same text?",
        f"Row by row −ln of the right one's share: {_row(loss, 3)}, mean {loss.mean():.3f}. With "
        f"equal second sentences both columns are alike, each share is ½ and each loss ln 2 = "
        f"0.693, however good the vectors are: copies must be left out.",
    )


@_asked("What training needs", 18, 5)
def what_training_needs(chance: Random) -> Drawn:
    """Bytes for weights, gradients and Adam."""
    millions = chance.choice([110, 340])
    return Drawn(
        f"A model has {millions} million parameters in four bytes each. How much memory do "
        f"weights, gradients and Adam's two moments take? How much do the weights alone need for "
        f"use, in two bytes and in one?",
        f"16 bytes a parameter: {16 * millions / 1000:.2f} GB. For use {2 * millions} MB in two "
        f"bytes, {millions} MB in one (activations come on top in both cases).",
    )
