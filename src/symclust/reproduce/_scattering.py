"""Scattering of small images: averaged moduli of wavelet coefficients (Bruna and Mallat 2011)."""

from __future__ import annotations

import numpy as np

SCALES, ORIENTATIONS, SIZE = 3, 6, 32


def _gabor(sigma: float, theta: float, frequency: float, slant: float) -> np.ndarray:
    """Return a Gabor function on the torus of SIZE × SIZE pixels."""
    ticks = np.fft.fftfreq(SIZE) * SIZE
    filled = np.zeros((SIZE, SIZE), dtype=complex)
    for shift_y in (-SIZE, 0, SIZE):
        for shift_x in (-SIZE, 0, SIZE):
            y, x = np.meshgrid(ticks + shift_y, ticks + shift_x, indexing="ij")
            along, across = x * np.cos(theta) + y * np.sin(theta), -x * np.sin(theta) + y * np.cos(theta)
            bell = np.exp(-(along**2 + slant**2 * across**2) / (2 * sigma**2))
            filled += bell * np.exp(1j * frequency * along)
    return filled * slant / (2 * np.pi * sigma**2)


def _filters() -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """Return the averaging filter and the Morlet wavelets by scale and orientation, as Fourier transforms."""
    slant = 4 / ORIENTATIONS
    low = np.fft.fft2(_gabor(0.8 * 2 ** (SCALES - 1), 0, 0, 1)).real
    wavelets = []
    for j in range(SCALES):
        sigma, frequency = 0.8 * 2**j, 0.75 * np.pi / 2**j
        row = []
        for l in range(ORIENTATIONS):
            theta = np.pi * l / ORIENTATIONS
            wave, bell = _gabor(sigma, theta, frequency, slant), _gabor(sigma, theta, 0, slant)
            row.append(np.fft.fft2(wave - bell * wave.sum() / bell.sum()).real)
        wavelets.append(row)
    return low, wavelets


def scattering(images: np.ndarray, batch: int = 500) -> np.ndarray:
    """Return the coefficients of order 0, 1 and 2 of images n × 28 × 28, on a grid of 4 × 4 places."""
    low, wavelets = _filters()
    step = 2**SCALES
    found = []
    for first in range(0, len(images), batch):
        part = np.zeros((len(images[first : first + batch]), SIZE, SIZE))
        part[:, 2:30, 2:30] = images[first : first + batch]
        transform = np.fft.fft2(part)
        average = [np.fft.ifft2(transform * low).real]
        for j, row in enumerate(wavelets):
            for wave in row:
                inner = np.fft.fft2(np.abs(np.fft.ifft2(transform * wave)))
                average.append(np.fft.ifft2(inner * low).real)
                for coarser in wavelets[j + 1 :]:
                    for second in coarser:
                        modulus = np.abs(np.fft.ifft2(inner * second))
                        average.append(np.fft.ifft2(np.fft.fft2(modulus) * low).real)
        grid = np.s_[:, step // 2 :: step, step // 2 :: step]
        found.append(np.stack([a[grid] for a in average], axis=1).reshape(len(part), -1))
    return np.concatenate(found)
