#pragma once
// How the readers of the kernel's messages take a line apart. For them alone.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::agent {

/// At most 160 bytes of printable ASCII.
std::string bounded(std::string_view text);

bool has(std::string_view text, std::string_view part);

/// What follows `mark`; nothing where it is not there.
std::optional<std::string_view> after(std::string_view text, std::string_view mark);

std::optional<int> leading_number(std::string_view text);

/// Letters, digits and '_' from the beginning: "nvme0" of "nvme0: I/O".
std::string_view leading_word(std::string_view text);

/// The first PCI address with domain and function in the text: "0000:1b:00.0"; empty: none.
std::string first_address(std::string_view text);

}  // namespace cupel::agent
