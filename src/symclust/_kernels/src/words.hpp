// Words of texts, counted: what scikit-learn's CountVectorizer does for one pattern, a hundred times as fast.
#pragma once

#include "common.hpp"

namespace symclust {

// What a character may be in a word, as bits of a table over all of Unicode.
enum Character : uint8_t { letter = 1, in_word = 2, goes_on = 4, joiner = 8 };
constexpr ptrdiff_t n_characters = 0x110000;

// Walks over UTF-8, with characters by their table.
class Reader {
public:
    Reader(const uint8_t* table, const uint8_t* here, const uint8_t* end)
        : here(here), table(table), end(end) {
        look();
    }

    bool done() const { return here == end; }
    bool is(uint8_t kind) const { return (current & kind) != 0; }

    void advance() {
        here += length;
        look();
    }

    // Passes all characters of a kind; whether there were any.
    bool pass(uint8_t kind) {
        const uint8_t* before = here;
        while (is(kind)) advance();
        return here != before;
    }

    const uint8_t* here;

private:
    const uint8_t *table, *end;
    ptrdiff_t length = 0;
    uint8_t current = 0;

    // Bytes that end in the middle of a character are taken for one that is in no word.
    void look() {
        current = 0;
        length = 0;
        if (done()) return;
        const uint8_t first = *here;
        length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        if (length == 1) {
            current = first < 0x80 ? table[first] : 0;
            return;
        }
        if (length > end - here) {
            length = end - here;
            return;
        }
        uint32_t code = first & (0xFFu >> (length + 1));
        for (ptrdiff_t b = 1; b < length; ++b) code = code << 6 | (here[b] & 0x3F);
        current = code < n_characters ? table[code] : 0;
    }
};

// found(begin, end) for each match of \b letter goes_on+ (joiner+ goes_on+)*, the leftmost and longest.
template <typename Found>
void each_word(const uint8_t* table, const uint8_t* begin, const uint8_t* end, const Found& found) {
    Reader text(table, begin, end);
    for (bool behind_word = false; !text.done();) {
        const uint8_t* start = text.here;
        const bool starts = text.is(letter) && !behind_word;
        behind_word = text.is(in_word);
        text.advance();
        if (!starts || !text.is(goes_on)) continue;
        const uint8_t* stop = text.here;
        for (Reader ahead = text; ahead.pass(goes_on);) {
            stop = ahead.here;
            text = ahead;
            if (!ahead.pass(joiner)) break;
        }
        // Only whether the last character is in a word matters from here on, and a mark is not.
        behind_word = false;
        for (const uint8_t* last = stop; last != start;) {
            --last;
            if ((*last & 0xC0) == 0x80) continue;
            behind_word = Reader(table, last, end).is(in_word);
            break;
        }
        found(start, stop);
    }
}

// Distinct strings by open addressing; the strings themselves stay where they are.
class Lexicon {
public:
    struct Word {
        const uint8_t* begin;
        ptrdiff_t length;
        uint64_t hash;
    };
    std::vector<Word> words;

    Lexicon() : slots(1 << 12, -1) {}

    int32_t number(const uint8_t* begin, const uint8_t* end) {
        uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
        for (const uint8_t* byte = begin; byte != end; ++byte) hash = (hash ^ *byte) * 0x100000001b3u;
        hash ^= hash >> 29;
        const ptrdiff_t length = end - begin;
        size_t slot = hash & (slots.size() - 1);
        for (; slots[slot] >= 0; slot = (slot + 1) & (slots.size() - 1)) {
            const Word& word = words[slots[slot]];
            if (word.hash == hash && word.length == length && std::equal(begin, end, word.begin))
                return slots[slot];
        }
        slots[slot] = int32_t(words.size());
        words.push_back({begin, length, hash});
        if (2 * words.size() > slots.size()) grow();
        return int32_t(words.size() - 1);
    }

private:
    std::vector<int32_t> slots;  // their number is a power of two

    void grow() {
        slots.assign(2 * slots.size(), -1);
        for (size_t w = 0; w < words.size(); ++w) {
            size_t slot = words[w].hash & (slots.size() - 1);
            while (slots[slot] >= 0) slot = (slot + 1) & (slots.size() - 1);
            slots[slot] = int32_t(w);
        }
    }
};

// Counts the words of texts: a CSR matrix of texts × words, both in the order they come in, and where each
// word is found first. A word has two bytes or more, and another character behind it or the end of a text.
inline std::pair<ptrdiff_t, ptrdiff_t> count_words(const uint8_t* table, const uint8_t* bytes,
                                                   const int64_t* starts, ptrdiff_t n_texts, int64_t* indptr,
                                                   int32_t* indices, int32_t* counts, int64_t* begins,
                                                   int64_t* ends) {
    Lexicon lexicon;
    std::vector<int64_t> place;  // of each word's last entry
    Pace pace;
    ptrdiff_t filled = 0;
    indptr[0] = 0;
    for (ptrdiff_t text = 0; text < n_texts; ++text) {
        const ptrdiff_t first = filled;
        each_word(table, bytes + starts[text], bytes + starts[text + 1],
                  [&](const uint8_t* begin, const uint8_t* end) {
            const int32_t word = lexicon.number(begin, end);
            if (size_t(word) == place.size()) place.push_back(-1);
            if (place[word] < first) {
                place[word] = filled;
                indices[filled] = word;
                counts[filled++] = 0;
            }
            ++counts[place[word]];
        });
        indptr[text + 1] = filled;
        pace(starts[text + 1] - starts[text]);
    }
    for (size_t w = 0; w < lexicon.words.size(); ++w) {
        begins[w] = lexicon.words[w].begin - bytes;
        ends[w] = begins[w] + lexicon.words[w].length;
    }
    return {filled, ptrdiff_t(lexicon.words.size())};
}

}  // namespace symclust
