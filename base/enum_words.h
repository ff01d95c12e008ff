#pragma once
// The words of an enum class are the names of its enumerators, which stand once, in its definition:
// "switch-port" or "switch port" of `switch_port` and of `kSwitchPort`, "continue" of `continue_`.
// Of enumerators that count from 0 without a gap. What has other words than its names keeps a table
// of its own. Words stand in journals and in files of the site: whoever renames an enumerator
// renames its word.
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace cupel {
namespace enum_words {

/// Empty where `V` is no enumerator: compilers print such a value as "(cupel::Kind)7". Source:
/// __PRETTY_FUNCTION__ of clang ("[V = cupel::Kind::one]") and of gcc ("[with auto V = ...; ...]").
template <auto V>
consteval std::string_view enumerator_name() {
  std::string_view text{__PRETTY_FUNCTION__};
  text = text.substr(text.find("V = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  const auto name = text.substr(text.find_last_of(":)") + 1);
  return name.front() >= '0' && name.front() <= '9' ? std::string_view{} : name;
}

template <class E, std::size_t N = 0>
consteval std::size_t count_enumerators() {
  if constexpr (enumerator_name<static_cast<E>(N)>().empty())
    return N;
  else
    return count_enumerators<E, N + 1>();
}

struct EnumWord {
  std::array<char, 48> letters{};
  std::size_t size = 0;
  constexpr void add(char letter) { letters.at(size++) = letter; }
};

constexpr bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }

template <auto V, char kBetween>
inline constexpr EnumWord kEnumWord = [] {
  auto name = enumerator_name<V>();
  if (name.ends_with('_')) name.remove_suffix(1);
  const bool humps = name.size() > 1 && name[0] == 'k' && is_capital(name[1]);
  if (humps) name.remove_prefix(1);
  EnumWord word;
  for (const char letter : name) {
    const bool upper = humps && is_capital(letter);
    if (upper && word.size > 0) word.add(kBetween);
    word.add(upper ? static_cast<char>(letter - 'A' + 'a') : letter == '_' ? kBetween : letter);
  }
  return word;
}();

template <class E, char kBetween>
inline constexpr auto kEnumWords = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{std::string_view{kEnumWord<static_cast<E>(I), kBetween>.letters.data(),
                                     kEnumWord<static_cast<E>(I), kBetween>.size}...};
}(std::make_index_sequence<count_enumerators<E>()>{});

}  // namespace enum_words

/// All words, in the order of the enumerators. `kBetween` stands where a name has an underscore.
template <class E, char kBetween>
constexpr const auto& enum_words_of() {
  return enum_words::kEnumWords<E, kBetween>;
}

/// Throws std::out_of_range where `value` is no enumerator: a bug.
template <char kBetween, class E>
constexpr std::string_view enum_word(E value) {
  return enum_words_of<E, kBetween>().at(static_cast<std::size_t>(value));
}

template <class E, char kBetween>
constexpr std::optional<E> enum_of(std::string_view word) {
  const auto& words = enum_words_of<E, kBetween>();
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace cupel
