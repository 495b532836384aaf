// How loud each sample of a song is, by the warp that has the sample's note.

// Where notes begin. Launch: block 256, a thread for each of the notes and one for the end of the last.
extern "C" __global__ void place(int* __restrict__ begins, int notes, int each)
{
    const int note = blockIdx.x * 256 + threadIdx.x;
    if (note > notes) return;
    // By up to half of the usual length later than in a song of equal notes.
    const unsigned late = note == 0 || note == notes ? 0 : (note * 2654435761u >> 8) % (each / 2);
    begins[note] = note * each + (int)late;
}

// Launch: grid (notes / 8), block 256.
extern "C" __global__ void fade(const int* __restrict__ begins, const float* __restrict__ struck, const float* __restrict__ fading,
                                float* __restrict__ volume)
{
    const int note = blockIdx.x * 8 + threadIdx.x / 32;
    const int begin = begins[note], end = begins[note + 1];
    const float first = struck[note], per_sample = fading[note];
    for (int sample = begin + (int)(threadIdx.x % 32); sample < end; sample += 32)
        volume[sample] = first * __expf(-per_sample * (sample - begin));
}
