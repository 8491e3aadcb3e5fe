// The pages are plain English for readers from many countries: no sentence is longer than a limit.
// What is counted are words of prose in Markdown. Code blocks do not count, a code span is one
// word,
// of a link only its text counts, and a heading, a list item and each cell of a table end a
// sentence whether or not they have a full stop, and in a cell so does a semicolon.
#pragma once
#include <string>
#include <vector>

#include "house/rules.h"

namespace raddle::house {

struct Sentence {
  std::string text;  ///< without marks of links; a code span is "`"
  unsigned words = 0;
  unsigned line = 0;  ///< of its paragraph, item or row, from 1
};

std::vector<Sentence> sentences_of(const std::string& markdown);

/// The sentences of `page` with more than `limit` words.
Findings long_sentences(const SourceFile& page, unsigned limit);

}  // namespace raddle::house
