"""Claims about BERT: what goes in, what is inside, how large it is, what stands on top; and about
the Vision Transformer's encoder.
"""

import torch
import torch.nn.functional as F
from transformers import BertConfig as TheirConfig
from transformers import BertForQuestionAnswering

from claims import Found, found
from claims.attention import equal
from claims.transformer import count
from lectures_lib.blocks.layers import EncoderBlock
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.tasks.task_heads import MultipleChoice, SentenceClassifier, SpanExtractor
from lectures_lib.tokenization import WordPiece


def small() -> Bert:
    """An untrained BERT, dropout off."""
    return Bert(BertConfig.TINY).eval()


def wordpiece() -> WordPiece:
    """The tokenizer with BERT's released uncased vocabulary, which MiniLM shares."""
    return WordPiece.from_vocab_txt(minilm.checkpoint() / "vocab.txt")


# ------------------------------------------------------------------------------------- what goes in


def segment_vectors() -> Found:
    """Real segment vectors: two learned rows, neither of them constant."""
    rows = minilm.load()["embeddings.token_type_embeddings.weight"]
    constant = [
        torch.equal(row, torch.full_like(row, value))
        for row, value in zip(rows, (0.0, 1.0), strict=True)
    ]
    return found(
        all(constant),
        rows=len(rows),
        width=rows.shape[1],
        least=rows.min().item(),
        most=rows.max().item(),
    )


def two_segments() -> Found:
    """The segment table is a table of token vectors with two rows, learned like the other."""
    embeddings = small().embeddings
    return found(
        embeddings.segments.weight.requires_grad and len(embeddings.segments.weight) == 2,
        rows=len(embeddings.segments.weight),
    )


def positions() -> Found:
    """Positions that are learned, and how many numbers they are in base; the Transformer learns
    none.
    """
    learned = Bert(BertConfig.TINY).embeddings.positions.weight.requires_grad
    in_transformer = [
        name
        for name, _ in Transformer(TransformerConfig.TINY).named_parameters()
        if "position" in name
    ]
    return found(
        not learned,
        numbers=BertConfig.BASE.max_len * BertConfig.BASE.d_model,
        in_transformer=len(in_transformer),
    )


def separators() -> Found:
    """[CLS] first, [SEP] behind each of the two sentences."""
    tokens = wordpiece().pair("the man went to the store", "he bought a gallon of milk").tokens
    return found(
        tokens[0] == "[CLS]" and tokens[-1] == "[SEP]" and tokens.count("[SEP]") == 2,
        seps=tokens.count("[SEP]"),
    )


def other_marks() -> Found:
    """BERT's marks, in the places of <bos>, <sep> and <mask>; and what its tokenizer makes of
    <bos>.
    """
    tokenizer = wordpiece()
    marks = ["[CLS]", "[SEP]", "[MASK]"]
    pair = tokenizer.pair("this movie is [MASK]", "i like it").tokens
    same = pair == ["[CLS]", "this", "movie", "is", "[MASK]", "[SEP]", "i", "like", "it", "[SEP]"]
    pieces = tokenizer.tokenize("<bos>").tokens
    return found(
        same and set(marks) <= set(tokenizer.specials),
        pieces=" ".join(pieces),
        specials=" ".join(marks),
    )


def vocabulary() -> Found:
    """Word pieces in the released uncased vocabulary."""
    size = len(wordpiece())
    return found(round(size, -4) == 30_000, size=size)


# -------------------------------------------------------------------------------------------- sizes


def sizes() -> Found:
    """The bodies of base and large, and large with the 30,000 tokens of the paper's text."""
    base, large = count(Bert, BertConfig.BASE), count(Bert, BertConfig.LARGE)
    agrees = round(base, -7) == 110_000_000 and round(large, -7) == 340_000_000
    return found(agrees, base=base, large=large)


def one_vector_a_token() -> Found:
    """Five tokens in, five vectors out, from each of six layers and the embeddings, and one for
    [CLS] through the pooler.
    """
    read = minilm.read("light as a feather")
    layers, n, width = read.hidden.shape
    pooled = small()(torch.randint(1500, (1, 6))).pooled
    return found(
        n == len(read.tokens) and pooled.shape == (1, BertConfig.TINY.d_model),
        layers=layers,
        n=n,
        width=width,
    )


def width_called_d_ff() -> Found:
    """Base with a hidden width of 768 in its feed-forward layers."""
    from dataclasses import replace

    narrow = count(Bert, replace(BertConfig.BASE, d_ff=768))
    return found(round(narrow, -7) == 110_000_000, hidden=BertConfig.BASE.d_ff, narrow=narrow / 1e6)


def borrowed_block() -> Found:
    """A block of BERT has the Transformer's parameters, one for one; with GELU for ReLU it computes
    something else.
    """
    ours, theirs = EncoderBlock(16, 2, 64, activation="gelu").eval(), EncoderBlock(16, 2, 64).eval()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(1, 4, 16)
    same_class = type(small().encoder.blocks[0]) is type(
        Transformer(TransformerConfig.TINY).encoder.blocks[0]
    )
    return found(same_class and not equal(ours(x), theirs(x)), names=len(ours.state_dict()))


def vision_block() -> Found:
    """The Vision Transformer's block: LayerNorm in front of each sublayer, GELU."""
    vit = ViT(ViTConfig.DIGITS)
    block, x = vit.encoder.blocks[0].eval(), torch.randn(1, 4, 64)
    plain = EncoderBlock(64, 4, 128).eval()
    plain.load_state_dict(block.state_dict())
    return found(equal(block(x), plain(x)), names=len(plain.state_dict()))


def vision_sequence() -> Found:
    """How many vectors an image of 224 × 224 pixels becomes, with patches of 16 and of 14, and the
    class token.
    """
    lengths = [1 + config.n_patches for config in (ViTConfig.L16, ViTConfig.H14)]
    vit = ViT(ViTConfig.DIGITS)
    read_off = (
        vit(torch.randn(1, 1, 8, 8)).shape == (1, 10)
        and len(vit.positions) == 1 + ViTConfig.DIGITS.n_patches
    )
    return found(read_off and lengths == [197, 257], l16=lengths[0], h14=lengths[1])


# ----------------------------------------------------------------------------------------- contexts


def light() -> Found:
    """ "light" in the lecture's two sentences: its vector in the table of word pieces, and after
    MiniLM's last layer.
    """
    lamp, feather = (
        minilm.read("please turn on the light"),
        minilm.read("the feather is very light"),
    )
    i, j = lamp.tokens.index("light"), feather.tokens.index("light")
    tokenizer = wordpiece()
    table = minilm.load()["embeddings.word_embeddings.weight"][tokenizer.token_id("light")]
    static = F.cosine_similarity(table, table, dim=0).item()
    last = F.cosine_similarity(lamp.hidden[-1, i], feather.hidden[-1, j], dim=0).item()
    return found(i == j and static > 0.999 and last < 0.9, static=static, last=last)


def both_sides() -> Found:
    """Append a token: how many of the vectors before it change in BERT, and in a causal model."""
    from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig

    tokens, more = torch.randint(1000, (1, 8)), torch.randint(1000, (1, 1))
    longer = torch.cat([tokens, more], dim=1)

    def moved(read) -> int:
        with torch.no_grad():
            return int(((read(tokens) - read(longer)[:, :8]).abs().amax(dim=-1) > 1e-6).sum())

    bert, causal = small(), LanguageModel(LanguageModelConfig.TINY).eval()
    in_bert, in_causal = moved(lambda ids: bert(ids).hidden), moved(causal)
    return found(in_bert == 8 and in_causal == 0, bert=in_bert, causal=in_causal)


def no_language_model() -> Found:
    """BERT's guess at a hole depends on the words behind it, so that its guesses are not P(next
    word | words before).
    """
    model = BertForPreTraining(BertConfig.TINY).eval()
    tokens = torch.randint(5, 1500, (1, 8))
    other = tokens.clone()
    other[0, -1] = (tokens[0, -1] + 1 - 5) % 1495 + 5
    with torch.no_grad():
        change = (model(tokens).words[0, 3] - model(other).words[0, 3]).abs().max().item()
    return found(change < 1e-6, cross=sum("cross" in name for name, _ in model.named_parameters()))


# -------------------------------------------------------------------------------------------- heads


def pooler() -> Found:
    """What stands between [CLS]'s last vector and the two scores: a square layer and a tanh."""
    model = BertForPreTraining(BertConfig.TINY).eval()
    tokens = torch.randint(5, 1500, (1, 6))
    with torch.no_grad():
        encoded = model.bert(tokens)
        straight = model.next_sentence(encoded.hidden[:, 0])
        real = model(tokens).next_sentence
    d = BertConfig.BASE.d_model
    return found(equal(straight, real), numbers=d * d + d)


def word_head() -> Found:
    """What stands between a token's last vector and the embedding matrix: a square layer, GELU and
    LayerNorm; and a bias behind it.
    """
    model = BertForPreTraining(BertConfig.TINY).eval()
    tokens = torch.randint(5, 1500, (1, 6))
    with torch.no_grad():
        hidden = model.bert(tokens).hidden
        straight = hidden @ model.bert.embeddings.tokens.weight.T
        real = model(tokens).words
    d = BertConfig.BASE.d_model
    return found(
        equal(straight, real), numbers=d * d + d + 2 * d, biases=BertConfig.BASE.vocab_size
    )


def new_numbers() -> Found:
    """What a classifier of two classes adds to base."""
    with torch.device("meta"):
        model = SentenceClassifier(Bert(BertConfig.BASE), 2)
    head = sum(p.numel() for p in model.head.parameters())
    body = count(Bert, BertConfig.BASE)
    return found(head < body / 10_000, head=head, body=body / 1e6)


def answer_vectors() -> Found:
    """What span extraction adds: two vectors, and a number for each. The same in Hugging Face's
    model.
    """
    theirs = BertForQuestionAnswering(
        TheirConfig(
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            vocab_size=50,
        )
    )
    with torch.device("meta"):
        ours = SpanExtractor(Bert(BertConfig.BASE))
    return found(
        len(ours.head.weight) == len(theirs.qa_outputs.weight) == 2,
        vectors=len(ours.head.weight),
        width=ours.head.weight.shape[1],
    )


def start_probabilities() -> Found:
    """The softmax of ⟨s, v_1⟩ … ⟨s, v_T⟩ is a distribution over the T positions."""
    model = SpanExtractor(small()).eval()
    tokens = torch.randint(5, 1500, (1, 9))
    with torch.no_grad():
        hidden, scores = model.bert(tokens).hidden[0], model(tokens)
        by_hand = hidden @ model.head.weight[0] + model.head.bias[0]
    start = scores[0][0]
    return found(
        equal(by_hand, start) and abs(start.softmax(dim=-1).sum().item() - 1) < 1e-5, n=len(start)
    )


def several_endings() -> Found:
    """SWAG is read once for each ending: the head gives one score for each of four inputs."""
    model = MultipleChoice(small()).eval()
    tokens = torch.randint(5, 1500, (2, 4, 7))
    with torch.no_grad():
        scores = model(tokens)
    return found(scores.shape[1] == 1, inputs=scores.shape[1], questions=scores.shape[0])
