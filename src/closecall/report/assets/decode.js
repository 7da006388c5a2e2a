// Columns of numbers, packed by Python: bytes of one significance side by side, deflated, base64.

const TYPES = {
  f4: Float32Array, f8: Float64Array,
  i1: Int8Array, i2: Int16Array, i4: Int32Array,
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array,
};

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

export async function inflate(text) {
  const stream = new Blob([fromBase64(text)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

export async function unpack(column) {
  const Type = TYPES[column.type];
  const planes = new Uint8Array(await inflate(column.data));
  const size = Type.BYTES_PER_ELEMENT;
  const count = planes.length / size;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < size; plane++) {
    const from = plane * count;
    for (let i = 0, to = plane; i < count; i++, to += size) bytes[to] = planes[from + i];
  }
  return new Type(bytes.buffer);
}

// Offsets of times, in units of the clock: all of them, or what makes them.
export async function unpackTimes(times) {
  if (times.values) return new Float64Array(await unpack(times.values));
  const offsets = new Float64Array(times.count);
  if (times.steps) {
    const steps = await unpack(times.steps);
    offsets[0] = times.first;
    for (let i = 1; i < offsets.length; i++) offsets[i] = offsets[i - 1] + steps[i - 1];
  } else {
    for (let i = 0; i < offsets.length; i++) offsets[i] = times.first + i * times.step;
  }
  return offsets;
}
