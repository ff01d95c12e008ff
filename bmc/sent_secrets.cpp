#include "bmc/sent_secrets.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/base64.h"
#include "base/text.h"

namespace cupel::bmc {
namespace {

/// What stands in documents anyway.
constexpr std::string_view kEveryDocument =
    "/redfish/v1/sessionservice/sessions/ accountservice/accounts/ systems/ managers/ chassis/ "
    "updateservice/firmwareinventory/ eventservice/ members@odata.id @odata.type @odata.context "
    "username password roleid administrator operator readonly admin root enabled disabled health "
    "status state name description message messageid severity resolution warning critical none "
    "null true false error code extendedinfo base http https description power thermal sensors";

/// The padding may be left out where it is echoed (RFC 4648, 3.2).
std::string base64_digits(std::string_view bytes) {
  auto text = base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::uint32_t> hexadecimal(std::string_view digits) {
  std::uint32_t value = 0;
  const auto* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, value, 16);
  return failure == std::errc{} && stop == end && !digits.empty() ? std::optional{value}
                                                                  : std::nullopt;
}

std::string utf8(std::uint32_t point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xc0 | point >> 6), byte(0x80 | (point & 63))};
  if (point < 0x10000)
    return {byte(0xe0 | point >> 12), byte(0x80 | (point >> 6 & 63)), byte(0x80 | (point & 63))};
  return {byte(0xf0 | point >> 18), byte(0x80 | (point >> 12 & 63)), byte(0x80 | (point >> 6 & 63)),
          byte(0x80 | (point & 63))};
}

/// Some text, and the bytes of a secret that it stands for.
struct Spelt {
  std::size_t length = 0;
  std::string bytes{};
};

/// "%41"; with `at` further behind "%2541", which was encoded twice.
Spelt percent_encoded(std::string_view text, std::size_t at = 1) {
  if (text.size() < at + 2) return {};
  const auto value = hexadecimal(text.substr(at, 2));
  if (!value) return {};
  return {at + 2, std::string{static_cast<char>(*value)}};
}

/// "u0041" behind backslashes, or two of these (RFC 8259, 7).
Spelt unicode_escape(std::string_view text) {
  const auto unit = [&](std::size_t at) {
    return text.size() >= at + 5 && text[at] == 'u' ? hexadecimal(text.substr(at + 1, 4))
                                                    : std::nullopt;
  };
  const auto first = unit(0);
  if (!first) return {};
  constexpr std::size_t kLength = 5;
  if (*first < 0xd800 || *first > 0xdbff) return {kLength, utf8(*first)};
  const auto next = text.find_first_not_of('\\', kLength);
  const auto second = next == text.npos || next == kLength ? std::nullopt : unit(next);
  if (!second || *second < 0xdc00 || *second > 0xdfff) return {};
  return {next + kLength, utf8(0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00))};
}

/// "&quot;", "&#34;", "&#x22;"
Spelt html_entity(std::string_view text) {
  struct Entity {
    std::string_view name;
    char stands_for;
  };
  constexpr std::array<Entity, 5> kNamed{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  for (const auto& [name, stands_for] : kNamed)
    if (text.starts_with(name)) return {name.size(), std::string{stands_for}};
  constexpr std::size_t kLongest = 10;
  const auto end = text.substr(0, kLongest).find(';');
  if (end == text.npos || !text.starts_with("&#")) return {};
  const auto digits = text.substr(2, end - 2);
  const bool by_16 = digits.starts_with('x') || digits.starts_with('X');
  const auto point = by_16 ? hexadecimal(digits.substr(1)) : number<std::uint32_t>(digits);
  if (!point || *point > 0x10ffff) return {};
  return {end + 1, utf8(*point)};
}

/// How much of a text spells how much of a secret.
struct Step {
  std::size_t text;
  std::size_t secret;
};

/// A few of them; nothing is allocated: this runs at every byte of an answer that fits.
class Ways {
 public:
  void push_back(Step step) {
    if (count_ < all_.size()) all_[count_++] = step;
  }
  const Step* begin() const { return all_.data(); }
  const Step* end() const { return all_.data() + count_; }

 private:
  std::array<Step, 8> all_{};
  std::size_t count_ = 0;
};

/// How often something may have been escaped or encoded: 2^6 backslashes.
constexpr std::size_t kMostBackslashes = 64;
constexpr int kMostEncodings = 6;

/// What may begin a spelling of something else, besides standing for itself.
constexpr std::string_view kEscapes = "\\%&+";

/// Whether the first byte of the text is the secret's as it is. Within JSON a quote is escaped: one
/// that is not ends a text.
bool is_itself(char first, char secret, bool json) {
  return first == secret && !(json && secret == '"');
}

/// Every way in which the text, which begins with one of kEscapes, may begin to spell the secret.
Ways steps(std::string_view text, std::string_view secret, bool json) {
  Ways ways;
  const auto add = [&](const Spelt& spelt, std::size_t before) {
    if (!spelt.bytes.empty() && secret.starts_with(spelt.bytes))
      ways.push_back({before + spelt.length, spelt.bytes.size()});
  };
  const char c = secret.front();
  const char first = text.front();
  if (first == '\\') {
    const auto some = text.substr(0, kMostBackslashes);
    const auto run = std::min(some.find_first_not_of('\\'), some.size());
    const auto rest = text.substr(run);
    if (!rest.empty()) add(unicode_escape(rest), run);
    if (c == '\\') ways.push_back({run, std::min(secret.find_first_not_of('\\'), secret.size())});
    if (c != '\\' && rest.starts_with(c)) ways.push_back({run + 1, 1});
    return ways;
  }
  if (is_itself(first, c, json)) ways.push_back({1, 1});
  if (first == '%') {
    std::size_t at = 1;
    add(percent_encoded(text, at), 0);
    for (int i = 0; i < kMostEncodings && text.substr(at).starts_with("25"); ++i)
      add(percent_encoded(text, at += 2), 0);
  }
  if (first == '&') add(html_entity(text), 0);
  if (first == '+' && c == ' ') ways.push_back({1, 1});
  return ways;
}

/// How many steps may be tried in one text: a BMC that knows one of its secrets could answer with
/// what almost spells it, over and over.
class Budget {
 public:
  explicit Budget(std::size_t bytes) : left_{kForEachText + kForEachByte * bytes} {}
  /// False from the first step on that is too many.
  bool step() { return left_ > 0 && --left_ > 0; }
  bool spent() const { return left_ == 0; }

 private:
  static constexpr std::size_t kForEachText = 1u << 20;
  static constexpr std::size_t kForEachByte = 128;
  std::size_t left_;
};

/// How long the secret is where it stands at the start of the text; nothing: it does not.
std::optional<std::size_t> length_at(std::string_view text, std::string_view secret, bool json,
                                     Budget& budget) {
  std::size_t done = 0;
  while (!secret.empty()) {
    if (text.empty() || !budget.step()) return std::nullopt;
    if (!kEscapes.contains(text.front())) {
      if (!is_itself(text.front(), secret.front(), json)) return std::nullopt;
      ++done;
      text.remove_prefix(1);
      secret.remove_prefix(1);
      continue;
    }
    const auto ways = steps(text, secret, json);
    if (ways.begin() == ways.end()) return std::nullopt;
    const auto& last = *(ways.end() - 1);
    for (const auto* way = ways.begin(); way != &last; ++way) {
      const auto rest = length_at(text.substr(way->text), secret.substr(way->secret), json, budget);
      if (rest) return done + way->text + *rest;
    }
    done += last.text;
    text.remove_prefix(last.text);
    secret.remove_prefix(last.secret);
  }
  return done;
}

/// Which secrets, a bit each, may begin with a byte, or have a spelling that does. Every byte of
/// what BMCs answer is looked at, some gigabytes in a run, and few of them begin one: hence a table
/// and no calls.
class FirstBytes {
 public:
  void add(char byte, std::uint64_t secrets) { of_[static_cast<std::uint8_t>(byte)] |= secrets; }
  std::uint64_t of(char byte) const { return of_[static_cast<std::uint8_t>(byte)]; }
  /// The first of them in the text from `at` on; its size: there is none.
  std::size_t next(std::string_view text, std::size_t at) const {
    const char* const bytes = text.data();
    const std::size_t size = text.size();
    while (at < size && of_[static_cast<std::uint8_t>(bytes[at])] == 0) ++at;
    return at;
  }

 private:
  static_assert(SentSecrets::kMost <= 64);
  std::uint64_t of_[256] = {};
};

/// Whether one of the first bytes shows that the secret does not stand here: most words that begin
/// as it does go on otherwise. False proves nothing.
bool differs_soon(const char* text, std::size_t size, const std::string& secret) {
  static_assert(kEscapes == "\\%&+");
  constexpr std::size_t kLook = 4;
  const char* const sought = secret.data();
  const std::size_t length = secret.size();
  for (std::size_t i = 0; i < kLook && i < size && i < length; ++i) {
    const char byte = text[i];
    if (byte == '\\' || byte == '%' || byte == '&' || byte == '+') return false;
    if (byte != sought[i]) return true;
  }
  return false;
}

bool stands_alone(std::string_view text, std::size_t at, std::size_t length) {
  const auto quote = [](char c) { return c == '"' || c == '\''; };
  if (at == 0 || !quote(text[at - 1])) return false;
  const auto end = text.find_first_not_of('\\', at + length);
  return end != text.npos && quote(text[end]);
}

}  // namespace

void overwrite(std::string& secret) {
  volatile char* byte = secret.data();
  for (std::size_t i = 0; i < secret.size(); ++i) byte[i] = 0;
  secret.clear();
}

std::string without_credentials(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return std::string{url};
  const auto host = scheme + 3;
  const auto end = std::min(url.find_first_of("/?#", host), url.size());
  const auto at = url.substr(0, end).rfind('@');
  if (at == url.npos || at < host) return std::string{url};
  return std::string{url.substr(0, host)} + std::string{SentSecrets::kHidden} +
         std::string{url.substr(at)};
}

SentSecrets::~SentSecrets() {
  for (auto& secret : all_) overwrite(secret.text);
}

void SentSecrets::add_one(std::string_view secret, bool common) {
  if (secret.empty()) return;
  const auto known = std::ranges::find(all_, secret, &Secret::text);
  if (known != all_.end()) {
    std::rotate(known, known + 1, all_.end());
    return;
  }
  if (all_.size() == kMost) all_.erase(all_.begin());
  all_.push_back({std::string{secret}, common});
}

void SentSecrets::add(std::string_view secret, std::string_view user) {
  const auto word = lower_case(secret);
  const bool common = secret.size() < kShortest || word == lower_case(user) ||
                      kEveryDocument.find(word) != kEveryDocument.npos;
  add_one(secret, common);
}

void SentSecrets::add_login(std::string_view user, std::string_view password) {
  if (password.empty()) return;
  add_one(base64_digits(std::string{user} + ":" + std::string{password}), false);
  const auto alone = base64_digits(password);
  if (password.size() >= kShortest) add_one(alone, false);
  add(password, user);
}

void SentSecrets::add_url(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return;
  const auto authority = url.substr(scheme + 3, url.find_first_of("/?#", scheme + 3) - scheme - 3);
  const auto at = authority.rfind('@');
  const auto colon = authority.find(':');
  if (at == authority.npos || colon > at) return;
  const auto reported = authority.substr(colon + 1, at - colon - 1);
  std::string meant;
  for (std::size_t i = 0; i < reported.size();) {
    const auto spelt = reported[i] == '%' ? percent_encoded(reported.substr(i)) : Spelt{};
    meant += spelt.length > 0 ? spelt.bytes : std::string{reported[i]};
    i += std::max<std::size_t>(spelt.length, 1);
  }
  add(meant, authority.substr(0, colon));
}

std::string SentSecrets::scrubbed(std::string text, In where) const {
  if (all_.empty() || text.empty()) return text;
  FirstBytes first;
  std::uint64_t sought = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].common && where == In::document) continue;
    const auto bit = std::uint64_t{1} << i;
    first.add(all_[i].text.front(), bit);
    sought |= bit;
  }
  for (const char escape : kEscapes) first.add(escape, sought);
  const bool json = where != In::text;
  const std::string_view whole = text;
  std::string clean;
  std::size_t kept = 0;  // up to here, `clean` has it
  Budget budget{whole.size()};
  for (std::size_t at = 0; at < whole.size();) {
    std::size_t longest = 0;
    at = first.next(whole, at);
    if (at == whole.size()) break;
    const bool within_run = at > 0 && whole[at] == '\\' && whole[at - 1] == '\\' && kept < at;
    if (!within_run) {
      for (auto left = first.of(whole[at]); left != 0; left &= left - 1) {
        const auto& secret = all_[static_cast<std::size_t>(std::countr_zero(left))];
        if (differs_soon(whole.data() + at, whole.size() - at, secret.text)) continue;
        const auto length = length_at(whole.substr(at), secret.text, json, budget);
        if (!length || (secret.common && !stands_alone(whole, at, *length))) continue;
        longest = std::max(longest, *length);
      }
    }
    if (budget.spent()) return std::string{kHidden};
    if (longest == 0) {
      ++at;
      continue;
    }
    clean.append(whole.substr(kept, at - kept)).append(kHidden);
    at += longest;
    kept = at;
  }
  if (kept == 0) return text;
  clean.append(whole.substr(kept));
  return clean;
}

void SentSecrets::scrub(std::span<std::uint8_t> bytes) const {
  for (const auto& secret : all_) {
    if (secret.common) continue;
    const auto same = [](std::uint8_t byte, char c) {
      return byte == static_cast<std::uint8_t>(c);
    };
    for (auto at = bytes.begin();;) {
      at = std::search(at, bytes.end(), secret.text.begin(), secret.text.end(), same);
      if (at == bytes.end()) break;
      at = std::fill_n(at, secret.text.size(), std::uint8_t{'*'});
    }
  }
}

}  // namespace cupel::bmc
