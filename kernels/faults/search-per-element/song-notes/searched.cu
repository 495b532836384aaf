// How loud each sample of a song is, by a thread that searches for the sample's note.

// Where notes begin. Launch: block 256, a thread for each of the notes and one for the end of the last.
extern "C" __global__ void place(int* __restrict__ begins, int notes, int each)
{
    const int note = blockIdx.x * 256 + threadIdx.x;
    if (note > notes) return;
    // By up to half of the usual length later than in a song of equal notes.
    const unsigned late = note == 0 || note == notes ? 0 : (note * 2654435761u >> 8) % (each / 2);
    begins[note] = note * each + (int)late;
}

// Launch: grid (samples / 256), block 256.
extern "C" __global__ void fade(const int* __restrict__ begins, const float* __restrict__ struck, const float* __restrict__ fading,
                                float* __restrict__ volume, int notes)
{
    const int sample = blockIdx.x * 256 + threadIdx.x;
    int note = 0, end = notes;
    while (end - note > 1) {
        const int middle = (note + end) / 2;
        if (begins[middle] <= sample) note = middle;
        else end = middle;
    }
    volume[sample] = struck[note] * __expf(-fading[note] * (sample - begins[note]));
}
