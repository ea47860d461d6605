"""Pictures for the command-line tests: scenes behind glass made from nothing, and PNG with the standard library."""
import struct
import zlib

import numpy as np

PNG_START = b"\x89PNG\r\n\x1a\n"


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_bytes(pixels, extra=b""):
    """(h,w) or (h,w,3), uint8 or uint16; extra: chunks before the pixels."""
    height, width = pixels.shape[:2]
    depth = 8 * pixels.dtype.itemsize
    rows = pixels.astype(">u2" if depth == 16 else "u1").reshape(height, -1)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", width, height, depth, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    return PNG_START + png_chunk(b"IHDR", head) + extra + png_chunk(b"IDAT", zlib.compress(raw, 1)) + png_chunk(b"IEND", b"")


def png_exif(orientation):
    """A TIFF header and one tag."""
    return png_chunk(b"eXIf", struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, 0x112, 3, 1, orientation, 0, 0))


def jpeg_with_profile(jpeg, icc):
    """The same with a profile behind its first two bytes."""
    body = b"ICC_PROFILE\0\1\1" + icc
    return jpeg[:2] + b"\xff\xe2" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def png_profile(icc):
    return png_chunk(b"iCCP", b"profile\0\0" + zlib.compress(icc))


def tiff_bytes(pixels, icc, gap=1 << 17):
    """Grey, 8 bit, with a profile and an EXIF directory: every part `gap` bytes behind the one before, read by itself."""
    def directory(entries):
        return (struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4))
    height, width = pixels.shape
    strip = pixels.tobytes()
    first = 8 + len(strip) + gap
    profile = first + gap
    exif = profile + len(icc) + gap
    text = exif + gap
    tags = directory([(256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 8), (262, 3, 1, 1), (273, 4, 1, 8), (277, 3, 1, 1),
                      (278, 3, 1, height), (279, 4, 1, len(strip)), (34665, 4, 1, exif), (34675, 7, len(icc), profile)])
    parts = {0: struct.pack("<2sHI", b"II", 42, first), 8: strip, first: tags, profile: icc,
             exif: directory([(37510, 2, 20, text)]), text: b"a photo of a window\0"}
    data = bytearray(text + 20)
    for at, part in parts.items():
        data[at:at + len(part)] = part
    return bytes(data)


# X, Y, Z of linear red, green and blue, brought to D50.
SRGB = (.4361, .2225, .0139), (.3851, .7169, .0971), (.1431, .0606, .7141)
DISPLAY_P3 = (.51512, .24120, -.00105), (.29198, .69225, .04189), (.15710, .06657, .78407)
ADOBE_RGB = (.60974, .31111, .01947), (.20528, .62567, .06087), (.14919, .06322, .74457)


def fixed(*values):
    """Numbers as ICC stores them."""
    return b"".join(struct.pack(">i", round(v * 65536)) for v in values)


def icc_bytes(kind, space, link, tags):
    """A profile of version 2 of these tags."""
    at, table, body = 132 + 12 * len(tags), struct.pack(">I", len(tags)), b""
    for name, data in tags.items():
        table += name + struct.pack(">II", at + len(body), len(data))
        body += data
    size = struct.pack(">I", at + len(body))
    head = size + bytes(4) + b"\2\x10\0\0" + kind + space + link + bytes(12) + b"acsp"
    return head + bytes(28) + fixed(.9642, 1, .8249) + bytes(48) + table + body


WHITE = {b"wtpt": b"XYZ " + bytes(4) + fixed(.9642, 1, .8249)}


def icc_profile(gamma, colour=True, primaries=SRGB):
    """The least profile that says how code values become light: primaries, or grey."""
    curve = b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256)) + bytes(2)
    if not colour:
        return icc_bytes(b"mntr", b"GRAY", b"XYZ ", {**WHITE, b"kTRC": curve})
    tags = {}
    for name, xyz in zip((b"r", b"g", b"b"), primaries):
        tags[name + b"XYZ"] = b"XYZ " + bytes(4) + fixed(*xyz)
        tags[name + b"TRC"] = curve
    return icc_bytes(b"mntr", b"RGB ", b"XYZ ", {**WHITE, **tags})


def icc_inks():
    """Of CMYK: paper is white, and any ink in full is black."""
    straight = bytes(range(256))
    corners = b"".join(bytes([0 if inks else 255, 128, 128]) for inks in range(16))
    table = b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + 4 * straight + corners + 3 * straight
    return icc_bytes(b"prtr", b"CMYK", b"Lab ", {**WHITE, b"A2B0": table})


def png_chunks(path):
    """Every chunk's kind and body."""
    data, at = path.read_bytes(), 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += size + 12


def unfilter(kind, row, above, step):
    if kind == 2:
        return row + above
    if kind == 1:
        return np.cumsum(row.reshape(-1, step), axis=0, dtype=np.uint8).ravel()
    out, up = bytearray(row.tobytes()), above.tobytes()
    for n in range(len(out)) if kind else ():
        a, b, c = out[n - step] if n >= step else 0, up[n], up[n - step] if n >= step else 0
        nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        out[n] = (out[n] + ((a + b) // 2 if kind == 3 else nearest)) & 255
    return np.frombuffer(bytes(out), np.uint8)


def png_pixels(path):
    """The pixels of a grey or RGB PNG that is not interlaced."""
    assert path.read_bytes().startswith(PNG_START), path
    packed = b""
    for kind, body in png_chunks(path):
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
        packed += body if kind == b"IDAT" else b""
    assert depth in (8, 16) and colour in (0, 2) and not interlace, (depth, colour, interlace)
    channels = 3 if colour else 1
    step = channels * depth // 8
    raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    rows, above = [], np.zeros(width * step, np.uint8)
    for row in raw:
        above = unfilter(row[0], row[1:], above, step)
        rows.append(above)
    pixels = np.stack(rows).view(">u2" if depth == 16 else "u1").astype(np.uint16 if depth == 16 else np.uint8)
    return pixels.reshape((height, width, 3) if colour else (height, width))


def texture(rng, height, width, patches=90):
    """Flat patches over one another, smallest last, as scenes made by people have them; in [0,1]."""
    picture = np.full((height, width, 3), 0.4)
    for size in np.geomspace(0.5 * height, 4, patches):
        h, w = np.maximum(2, size * rng.uniform(0.5, 1.5, 2)).astype(int)
        y, x = rng.integers(1 - h, height), rng.integers(1 - w, width)
        picture[max(y, 0):y + h, max(x, 0):x + w] = rng.random() * 0.7 + rng.random(3) * 0.3
    return picture


def sample(picture, x, y):
    """Bilinear."""
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]
    return ((picture[y0, x0] * (1 - fx) + picture[y0, x0 + 1] * fx) * (1 - fy)
            + (picture[y0 + 1, x0] * (1 - fx) + picture[y0 + 1, x0 + 1] * fx) * fy)


def seen(picture, h, height, width, margin):
    """What stands at h^-1 of every pixel of a photo: h takes the reference's pixels to the photo's."""
    y, x = np.mgrid[:height, :width].astype(float)
    u, v, d = np.einsum("ij,jyx->iyx", np.linalg.inv(h), np.stack([x, y, np.ones_like(x)]))
    return sample(picture, u / d + margin, v / d + margin)


def shift(x, y, tilt=0.0):
    return np.array([[1 + tilt, tilt, x], [-tilt, 1, y], [tilt / 500, 0, 1]])


def to_srgb(linear):
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)


def from_srgb(code):
    return np.where(code <= .04045, code / 12.92, ((code + .055) / 1.055) ** 2.4)


def converted(light, start, end):
    """Linear light in one space's primaries as light in another's."""
    return light @ np.linalg.inv(np.array(end).T).dot(np.array(start).T).T


def scene(photos=3, height=96, width=128, seed=4, reference=None, tilt=0.002):
    """Photos of a textured scene through glass that reflects another, and the scene as the reference shows it without:
    both as sRGB in [0,1]."""
    rng = np.random.default_rng(seed)
    margin = 24
    shape = (height + 2 * margin, width + 2 * margin)
    behind, mirrored = texture(rng, *shape), texture(rng, *shape)
    reference = (photos - 1) // 2 if reference is None else reference
    made = []
    for i in range(photos):
        k = i - reference
        t = seen(behind, shift(2.3 * k, -1.4 * k, tilt * k), height, width, margin)
        r = seen(mirrored, shift(-4.1 * k, 3.2 * k, -tilt * k), height, width, margin)
        made.append(to_srgb(0.6 * t + 0.3 * r))
        if k == 0:
            truth = to_srgb(0.6 * t)
    return made, truth


def to_8_bit(picture):
    return np.round(255 * picture).astype(np.uint8)


def to_16_bit(picture):
    return np.round(65535 * picture).astype(np.uint16)


def psnr(picture, truth):
    """After a fit of gain and offset for each channel: how bright a layer is cannot be known."""
    total = 0
    for c in range(truth.shape[-1]):
        x, y = picture[..., c].ravel(), truth[..., c].ravel()
        gain, offset = np.polyfit(x, y, 1)
        total += np.mean((gain * x + offset - y) ** 2)
    return -10 * np.log10(total / truth.shape[-1])
