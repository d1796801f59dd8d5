# %% [markdown]
# # Homework 4: the Vision Transformer
#
# An image is cut up, read like a sentence, and in the end you ask the model where it looked. Most of what can go wrong on this way is a dimension in the wrong place: the shape is right and nothing is raised, but the model learns badly, or no longer fits anyone else's weights. You will build each step and get to know
# these mistakes. The questions follow [chapter 11](../notebooks/11_vision_transformer.ipynb), and questions 1, 4 and 6 stay close to the code that is printed there: write them from memory. The others go a step further.
#
# **20 points, about two and a quarter hours.**
#
# | | question | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | Cutting into patches | 3 | 2 | 20 |
# | 2 | The same as a convolution | 3 | 2 | 20 |
# | 3 | What enters the encoder | 4 | 2 | 25 |
# | 4 | A larger image | 4 | 3 | 30 |
# | 5 | How large is a ViT? | 2 | 2 | 15 |
# | 6 | Through all layers | 4 | 3 | 25 |
#
# **How it works.** Below each question stands a cell for your answer and a cell that checks it. The check calls your function on a few
# inputs; if something is wrong it tells you which mistake it recognises, or which values differ. You may check as often as you like. For
# the grade, your functions are called on *other* inputs of other sizes, so an answer fitted to the check's numbers earns nothing.
#
# **The rules.** Keep the names and the arguments, and leave what your function is given as it is: an input that is changed in place makes
# an answer wrong. Everything in `torch` is allowed except what a question asks you to build: no `F.unfold` in question 1 (the tensor's own `.unfold` is welcome). Of this course's library use nothing but what this notebook's own cells import:
# `lectures_lib.models.vit` and `lectures_lib.analysis.rollout` are out of bounds. No question needs an earlier answer, and calling one is unwise: a
# mistake there would cost you twice.
#
# **What the check sees.** In question 1 a call of `F.unfold` makes the answer wrong, and in question 2 an answer that never calls
# `F.conv2d` (`torch.conv2d` and `nn.Conv2d` are the same). Whatever else is out of bounds costs no points by itself: whoever grades is told
# of it, and decides. In question 3 gradients count: a `.item()`, `.tolist()`, `int(…)`, `.detach()`, `.data` or `no_grad` on the way costs
# half of the points. In questions 1 and 2 it costs nothing, and the check says so. In the other questions nobody looks at gradients.
#
# **Question 3 asks for a class.** The check loads its own numbers into your parameters, so their names and shapes are fixed. Whatever
# you set up in `__init__`, the parameters must be exactly those that the question lists.

# %% tags=["setup", "nbval-ignore-output"]
# Set-up: run this cell first. Where the course's library is missing (on Colab, say), it
# is installed; running the cell twice is harmless.
import importlib.util
import subprocess
import sys

REPOSITORY = "https://github.com/from-attention-to-bert/course"
if importlib.util.find_spec("lectures_lib") is None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    command = [*pip, "--quiet", f"lectures-lib @ git+{REPOSITORY}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise RuntimeError(
            f"pip could not install the course's library from {REPOSITORY}.\n"
            f"- It needs Python 3.11, 3.12 or 3.13; this is {sys.version.split()[0]}.\n"
            "- It needs a network and git. Does that address open in a browser?\n"
            "- On Colab: Runtime > Disconnect and delete runtime; then try again.\n"
            "What pip said last:\n" + "\n".join(said[-10:])
        )

import lectures_lib

device = lectures_lib.setup(seed=0)

# %%
import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.homework import check

# %% [markdown]
# ## Question 1: Cutting into patches
#
# *3 points · difficulty 2 of 3 · 20 minutes ·
# [chapter 11, sixteen pixels, four words](../notebooks/11_vision_transformer.ipynb#sixteen-pixels-four-words)*
#
# Cut images into square patches, and write each patch as one vector.
#
# Take an image of 4 × 6 pixels with two channels. Its first channel is numbered like the words on a page, from 0 to 23, and its second
# channel from 100 to 123:
#
# $$\begin{array}{rr|rr|rr} 0 & 1 & 2 & 3 & 4 & 5 \\ 6 & 7 & 8 & 9 & 10 & 11 \\ \hline 12 & 13 & 14 & 15 & 16 & 17 \\
# 18 & 19 & 20 & 21 & 22 & 23 \end{array}$$
#
# With `patch_size=2` there are two rows of three patches, and they are read like text as well. The first becomes the vector 0, 1, 6, 7,
# 100, 101, 106, 107: the whole first channel of the patch, row by row, then its second channel. The second patch begins with 2, 3, 8, 9;
# the fourth, which is the first of the second row, with 12, 13, 18, 19.
#
# - `images`: `(batch, channels, height, width)`; `patch_size`: an integer that divides height and width, which need not be equal
# - returns `(batch, n, channels · patch_size²)`, where `n` is the number of patches
#
# <details><summary>Hint</summary>
#
# Six dimensions are in play: batch, channels, row of patches, row in the patch, column of patches, column in the patch. `reshape` only
# cuts dimensions into pieces or joins neighbours; `permute` is what moves them.
#
# </details>


# %%
def patches(images, patch_size):
    """Each image as a sequence of patches, each patch as one vector."""
    ### BEGIN SOLUTION
    batch, channels, height, width = images.shape
    rows, columns = height // patch_size, width // patch_size
    x = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    x = x.permute(0, 2, 4, 1, 3, 5)  # batch, rows, columns, channels, p, p
    return x.reshape(batch, rows * columns, channels * patch_size**2)
    ### END SOLUTION


# %%
check("hw4.patches", patches)

# %% [markdown]
# ## Question 2: The same as a convolution
#
# *3 points · difficulty 2 of 3 · 20 minutes ·
# [chapter 11, a patch becomes a vector](../notebooks/11_vision_transformer.ipynb#a-patch-becomes-a-vector)*
#
# In a Vision Transformer one linear layer turns each patch into a vector of `d_model` numbers. Most programs never cut anything, though:
# they run a convolution over the image. You are given the weights of the *linear layer*, as it would be applied to the vectors of
# question 1. Return what it would make of all patches, by one call of `F.conv2d`.
#
# A small case: a grey image of 2 × 4 pixels, and patches of 2 × 2.
#
# $$\begin{array}{rr|rr} 1 & 2 & 3 & 4 \\ 5 & 6 & 7 & 8 \end{array}$$
#
# Let the matrix have the rows (1, 0, 0, −1) and (0, 0, 1, 0), and the bias be (0, 10). The first patch is the vector (1, 2, 5, 6); it
# becomes $(1 - 6,\; 5 + 10) = (-5, 15)$. The second, (3, 4, 7, 8), becomes (−5, 17). Now as a convolution: the first row of the matrix is a
# kernel with 1 and 0 above 0 and −1, the second one with 0 and 0 above 1 and 0. The first kernel finds (−5, −5) in the two places, the
# second (15, 17). These are the same four numbers, but with the two *features* as rows where we want the two *patches*.
#
# - `images`: `(batch, channels, height, width)`; `weight`: `(d_model, channels · patch_size²)` and `bias`: `(d_model,)`, as in `nn.Linear`
# - returns `(batch, n, d_model)`
#
# <details><summary>Hint</summary>
#
# `F.conv2d(images, kernel, bias, stride=…)` wants a kernel of shape `(d_model, channels, height, width)` and returns `(batch, d_model, rows,
# columns)`.
#
# </details>


# %%
def embed_by_convolution(images, weight, bias, patch_size):
    """(batch, channels, height, width) → (batch, n, d_model)."""
    ### BEGIN SOLUTION
    kernel = weight.reshape(-1, images.shape[1], patch_size, patch_size)
    x = F.conv2d(images, kernel, bias, stride=patch_size)
    return x.flatten(2).transpose(1, 2)  # (batch, d_model, n) → (batch, n, d_model)
    ### END SOLUTION


# %%
check("hw4.embed_by_convolution", embed_by_convolution)

# %% [markdown]
# ## Question 3: What enters the encoder
#
# *4 points · difficulty 2 of 3 · 25 minutes ·
# [chapter 11, a word that stands for the whole](../notebooks/11_vision_transformer.ipynb#a-word-that-stands-for-the-whole)*
#
# The encoder reads vectors. In front of those of the patches stands the **class token**, one learned vector, the same for every image; the
# classifier will look at nothing but the encoder's output at its place. And since attention does not know places, every row gets a learned
# **position** added, the class token too:
#
# $$z_0 = t + p_0, \qquad z_i = W x_i + b + p_i \quad\text{for the patches } i = 1, \dots, n.$$
#
# With vectors of one number each: there are two patches, 3 and 4; the projection doubles; the class token is 1, and the positions are 0.1,
# 0.2, 0.3. What enters the encoder is 1.1, 6.2, 8.3.
#
# The patches come already cut, as the vectors of question 1.
#
# - `PatchEmbedding(n_patches, n_pixels, d_model)`, with `projection`, an `nn.Linear` from `n_pixels` to `d_model`; `class_token`, an
#   `nn.Parameter` of shape `(d_model,)`; `positions`, an `nn.Parameter` of shape `(1 + n_patches, d_model)`. With the sizes of the base
#   model, 196, 768 and 768, that makes 742,656 numbers.
# - `forward(patches)`: `(batch, n_patches, n_pixels)`; returns `(batch, 1 + n_patches, d_model)`. There is no dropout.
#
# <details><summary>Hint</summary>
#
# `torch.cat` joins tensors of equally many dimensions. `vector.expand(batch, 1, -1)` shows one vector `batch` times, without copying it.
#
# </details>


# %%
class PatchEmbedding(nn.Module):
    """Patches → vectors, a class token before them, positions."""

    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__()
        ### BEGIN SOLUTION
        self.projection = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.zeros(1 + n_patches, d_model))
        ### END SOLUTION

    def forward(self, patches):
        """(batch, n_patches, n_pixels) → (batch, 1 + n_patches, d_model)."""
        ### BEGIN SOLUTION
        x = self.projection(patches)
        class_token = self.class_token.expand(len(x), 1, -1)
        return torch.cat([class_token, x], dim=1) + self.positions
        ### END SOLUTION


# %%
check("hw4.PatchEmbedding", PatchEmbedding)

# %% [markdown]
# ## Question 4: A larger image
#
# *4 points · difficulty 3 of 3 · 30 minutes ·
# [chapter 11, an image of another size](../notebooks/11_vision_transformer.ipynb#an-image-of-another-size)*
#
# A model has learned positions for a square of patches, and now gets an image that has more of them. No positions were learned for that, but
# those there are form a picture: `side` by `side` places, with a vector in each. Stretch it to the new size, as one stretches an image, and
# read off the vectors. The class token's position belongs to no place; it is kept as it is.
#
# Stretching is **bilinear**: between two neighbours, go in a straight line. First along one row. There are two places with the numbers 0
# and 4, and we want four. The *edges* of the old row and the new row agree, so each new place is half as wide, and their middles lie at
# −0.25, 0.25, 0.75 and 1.25, counted in old places. At 0.25 one has gone a quarter of the way from 0 to 4. Before the first middle and after
# the last there is nothing to go to, so the number there stays that of the neighbour. This makes 0, 1, 3, 4.
#
# Then a whole example, with vectors of one number each: the class token's position is 7, and the patches' are 0 and 4 above 8 and 12. Wanted
# are 2 rows and 4 columns. The result is 7, then 0, 1, 3, 4, then 8, 9, 11, 12.
#
# (Hugging Face's programs do this with `mode="bicubic"`, which looks further around. Here it is bilinear, so that you can check by hand.)
#
# - `positions`: `(1 + side², d_model)`, the class token's first, then the patches', row by row
# - `rows`, `columns`: the new numbers of patches. They may differ, and either may be smaller than before; the rule is the same then
#   (no `antialias`).
# - returns `(1 + rows · columns, d_model)`
#
# <details><summary>Hint</summary>
#
# `F.interpolate` does the stretching, if you name the new `size`, the mode "bilinear", and `align_corners=False`. Its input is `(batch,
# channels, height, width)`: here one image, whose channels are the `d_model` features. The work is to get there and back.
#
# </details>


# %%
def resize_positions(positions, rows, columns):
    """(1 + side², d_model) → (1 + rows · columns, d_model)."""
    ### BEGIN SOLUTION
    of_class, of_patches = positions[:1], positions[1:]
    side = round(len(of_patches) ** 0.5)
    picture = of_patches.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    picture = F.interpolate(
        picture, size=(rows, columns), mode="bilinear", align_corners=False
    )
    of_patches = picture.permute(0, 2, 3, 1).reshape(rows * columns, -1)
    return torch.cat([of_class, of_patches])
    ### END SOLUTION


# %%
check("hw4.resize_positions", resize_positions)

# %% [markdown]
# ## Question 5: How large is a ViT?
#
# *2 points · difficulty 2 of 3 · 15 minutes · [chapter 11, what it costs](../notebooks/11_vision_transformer.ipynb#what-it-costs)*
#
# Count the parameters of a Vision Transformer. Images are square, `image_size` pixels high and wide, and `patch_size` divides `image_size`.
# In order:
#
# - a linear layer makes vectors of the patches, and there is one learned position for each row that enters the encoder;
# - the class token is a learned vector. Some models have none (`class_token=False`): they average the encoder's outputs instead, and have no
#   position for it;
# - `n_layers` pre-norm blocks, each with self-attention (four projections, `d_model` to `d_model`), a feed-forward layer (to `d_ff` and
#   back) and two norms;
# - one more norm after the last block, and a linear layer to `n_classes` scores.
#
# Every linear layer has a bias; every LayerNorm has a gain and a shift.
#
# By hand, for the smallest of them: `image_size=4, patch_size=2, n_channels=1, n_classes=2, d_model=2, n_layers=1, n_heads=1, d_ff=3`. The
# patches' layer has (4 + 1) · 2 = 10, the class token 2, the positions 5 · 2 = 10. The block has 4 · (4 + 2) = 24 in its attention,
# (6 + 3) + (6 + 2) = 17 in its feed-forward layer, 8 in its norms: 49. The last norm has 4, the head 6. Together **81**; with
# `class_token=False` it is 77. A larger one, `image_size=6, patch_size=2, n_channels=3, n_classes=5, d_model=4, n_layers=2, n_heads=2, d_ff=6`, has 437.
#
# - all arguments are integers, but for `class_token`, a boolean; returns an integer
#
# <details><summary>Hint</summary>
#
# Write it as the sum of a few named parts, and compare each with its number in the example. One of the arguments does not matter at
# all: which?
#
# </details>


# %%
def vit_parameters(
    image_size,
    patch_size,
    n_channels,
    n_classes,
    d_model,
    n_layers,
    n_heads,
    d_ff,
    class_token=True,
):
    """The number of parameters of a Vision Transformer of these sizes."""
    ### BEGIN SOLUTION
    n_patches = (image_size // patch_size) ** 2
    projection = (n_channels * patch_size**2 + 1) * d_model
    positions = n_patches * d_model
    if class_token:
        positions += 2 * d_model  # the token itself, and its position
    attention = 4 * (d_model**2 + d_model)
    feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
    norm = 2 * d_model
    block = attention + feed_forward + 2 * norm
    head = (d_model + 1) * n_classes
    return projection + positions + n_layers * block + norm + head
    ### END SOLUTION


# %%
check("hw4.vit_parameters", vit_parameters)

# %% [markdown]
# ## Question 6: Through all layers
#
# *4 points · difficulty 3 of 3 · 25 minutes ·
# [chapter 11, where does it look?](../notebooks/11_vision_transformer.ipynb#where-does-it-look)*
#
# Where did the model look before it named a class? The attention of the last layer alone does not tell: by then each vector is already a
# mixture. **Attention rollout** (Abnar and Zuidema) follows the mixing through all layers. (How far such a picture can be trusted, the
# chapter tests.)
#
# 1. In each layer, take the mean of the heads' attention matrices, $A$.
# 2. Suppose that half of what a layer hands on is what came in, by the residual, and half what attention fetched: $M = (A + I) / 2$.
# 3. Multiply, with the *last* layer's matrix on the left: $M_{L-1} \cdots M_1 M_0$. Row $i$ of the product says what output $i$ is made of.
# 4. Take the class token's row and leave out its own entry. What remains are the shares of the patches; lay them out as a picture.
#
# An example with one head, two layers, and three rows: the class token and the patches 0 and 1. In layer 0 the class token looks at patch
# 0 only, patch 0 at patch 1 only, and patch 1 at itself. In layer 1 the class token looks at patch 0 only, and each patch at itself. So
#
# $$M_0 = \begin{pmatrix} 0.5 & 0.5 & 0 \\ 0 & 0.5 & 0.5 \\ 0 & 0 & 1 \end{pmatrix}, \qquad
# M_1 = \begin{pmatrix} 0.5 & 0.5 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{pmatrix},$$
#
# $$M_1 M_0 = \begin{pmatrix} 0.25 & 0.5 & 0.25 \\ 0 & 0.5 & 0.5 \\ 0 & 0 & 1 \end{pmatrix}.$$
#
# The answer is 0.5 for patch 0 and 0.25 for patch 1. The class token has never looked at patch 1. But patch 0 had, before the class token
# looked at patch 0 for the second time. With the product the wrong way round, patch 1 would have got nothing.
#
# - `weights`: a list with the attention of each layer, from the first to the last, each `(batch, heads, 1 + n, 1 + n)`; the class token is
#   row 0, and every row sums to 1
# - `rows`, `columns`: how the `n` patches lie in the image, row by row
# - returns `(batch, rows, columns)`, not scaled any further: the shares sum to less than 1, and the rest is the class token's own
#
# <details><summary>Hint</summary>
#
# `torch.eye(1 + n)` is the identity. Begin with the first layer's matrix, and put each following one on the *left* of what you have.
#
# </details>


# %%
def rollout(weights, rows, columns):
    """The share of each patch in the class token: (batch, rows, columns)."""
    ### BEGIN SOLUTION
    identity = torch.eye(1 + rows * columns)
    product = identity
    for layer in weights:
        product = (layer.mean(dim=1) + identity) / 2 @ product
    return product[:, 0, 1:].reshape(-1, rows, columns)
    ### END SOLUTION


# %%
check("hw4.rollout", rollout)

# %% [markdown]
# With your answers, a last look (nothing to hand in here). First the base model with patches of 16 × 16 for 1000 classes, in millions. Then
# questions 1 and 2 side by side: cutting and multiplying gives what the convolution gives. And questions 1 and 3 together: a batch of
# images, ready for the encoder.

# %%
base = vit_parameters(224, 16, 3, 1000, d_model=768, n_layers=12, n_heads=12, d_ff=3072)
print(f"ViT-B/16: {base / 1e6:.1f} million parameters")

images, weight, bias = torch.randn(2, 3, 32, 48), torch.randn(64, 192), torch.randn(64)
by_hand = patches(images, 8) @ weight.T + bias
by_convolution = embed_by_convolution(images, weight, bias, 8)
print("the same:", torch.allclose(by_hand, by_convolution, atol=1e-3))

embedding = PatchEmbedding(n_patches=24, n_pixels=192, d_model=64)
print("enters the encoder:", tuple(embedding(patches(images, 8)).shape))

# %% [markdown]
# All that a Vision Transformer's code knows of images is in these few lines. What comes behind them is the encoder of chapter 5, which does not know
# that it is looking at a picture.
#
# ## Before you hand in
#
# Choose *Restart and run all* from the menu and see that every check says ✓: an answer that works only because of a cell you have
# since changed or deleted will not work for the grader either. Then hand in this one file; [how](../book/handing_in.md).
