#pragma once
// How a column keeps a large text: packed, as text of its own kind, so that sqlite3 shows and dumps
// it. By hand: sqlite3 cupel.db "SELECT substr(data, 4) FROM event ..." | base64 -d | zcat
#include <string>

namespace cupel::store {

/// "gz:" and base64 of gzip where `text` has some kilobytes and that is shorter; else the text.
std::string packed_text(std::string text);

/// The text again. What was not packed, or cannot be unpacked, as it is: its hash tells.
std::string unpacked_text(std::string kept);

}  // namespace cupel::store
