#include "base/secret_forms.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <vector>

#include "base/text.h"

namespace cupel {
namespace {

constexpr std::string_view kGone = "***";
constexpr std::size_t kShortestKnown = 4;  // bytes: a shorter one would take words apart
constexpr auto kNone = std::string_view::npos;

/// A name with one of these in it is a secret's, without "-" and "_".
constexpr auto kSecretParts = std::to_array<std::string_view>(
    {"password",      "passwd",     "passphrase", "passcode",  "passwort",      "kennwort",
     "pwd",           "secret",     "token",      "apikey",    "accesskey",     "accountkey",
     "privatekey",    "signingkey", "sharedkey",  "masterkey", "encryptionkey", "credential",
     "authorization", "community",  "cookie",     "sessionid"});
/// These are, as a whole or as a name's last word: BMC_PW, "auth".
constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"pass", "passe", "pw", "psk", "auth", "key", "pin", "otp", "jwt", "passkey", "bearer"});
constexpr std::string_view kEcho = "echo";
/// Options of programs whose value is one. The others' -p is a port, unless they have -u for a
/// user. What echo writes is one where it goes to a program that reads it so. Most take it also in
/// the same word (-Px), but for those that have longer options with this begin (-pm, -keyout).
struct SecretOption {
  std::string_view program, flag;
  bool is_alone = false;
};
constexpr auto kSecretOptions = std::to_array<SecretOption>(
    {{"ipmitool", "-P"},      {"ipmi-", "-p"},     {"sshpass", "-p"},
     {" -u", "-p", true},     {" -U", "-P", true}, {"mysql", "-p"},
     {"docker login", "-p"},  {"racadm", "-p"},    {"curl", "-u"},
     {"curl", "-U"},          {"curl", "--user"},  {"curl", "--proxy-user"},
     {"wget", "--password"},  {"smbclient", "-U"}, {"onecli", "--bmc"},
     {"ldap", "-w"},          {"redis-cli", "-a"}, {"openssl", "-k", true},
     {"openssl", "-K", true}, {"snmp", "-c"},      {"snmp", "-A"},
     {"snmp", "-X"},          {"chpasswd", kEcho}, {"sudo -S", kEcho},
     {"-stdin", kEcho}});
/// Tokens that begin so are known wherever they stand.
constexpr auto kTokenBegins = std::to_array<std::string_view>(
    {"AKIA", "eyJ", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "nvapi-", "xoxb-", "xoxp-"});

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

/// What of the next lines a line asks to be dropped: the value of its last name, or all lines of a
/// block of YAML.
enum class Below { nothing, value, block };

/// One line, read once from its beginning to its end.
class Line {
 public:
  explicit Line(std::string_view text) : text_{text} {}

  /// `below` is set where a secret's name ends the line: its value stands in the next.
  std::string scrubbed(Below& below) {
    note_programs();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (text_.substr(at_).starts_with("://"))
        take_authority();
      else if (c == '$' && is_crypt())
        drop_to(text_.find_first_of(": \t\"'", at_));
      else if (is_of_name(c))
        take_name();
      else
        keep(1);
    }
    below = below_;
    return std::move(out_);
  }

 private:
  void keep(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ += count;
  }
  void drop_to(std::size_t end) {
    if (end == kNone) end = text_.size();
    if (end == at_) return;
    out_ += kGone;
    at_ = end;
  }
  std::size_t behind_blanks(std::size_t from) const {
    while (from < text_.size() && is_blank(text_[from])) ++from;
    return from;
  }
  void note_programs() {
    for (std::size_t i = 0; i < kSecretOptions.size(); ++i)
      has_[i] = text_.contains(kSecretOptions[i].program);
  }

  /// user:password@host of a URI.
  void take_authority() {
    keep(3);
    const auto end = std::min(text_.find_first_of("/ \t\"'", at_), text_.size());
    const auto host = text_.substr(at_, end - at_).rfind('@');
    if (host != kNone && host > 0) drop_to(at_ + host);
  }

  /// "$6$salt$hash", as in /etc/shadow.
  bool is_crypt() const {
    const auto second = text_.find('$', at_ + 1);
    if (second == kNone || second == at_ + 1 || second - at_ > 8) return false;
    for (auto i = at_ + 1; i < second; ++i)
      if (!is_letter(text_[i]) && !is_digit(text_[i])) return false;
    const auto third = text_.find('$', second + 1);
    return third != kNone && third > second + 1 &&
           text_.substr(second, third - second).find_first_of(": \t\"'") == kNone;
  }

  void take_name() {
    auto end = at_;
    while (end < text_.size() && is_of_name(text_[end])) ++end;
    const auto name = text_.substr(at_, end - at_);
    if (is_token(name)) return drop_to(text_.find_first_of(" \t\"'\\&;,)<>", at_));
    before_ = at_ > 0 ? text_[at_ - 1] : ' ';
    is_tag_ = opens_tag();
    const bool behind_word = was_word_;
    const bool is_option = name.starts_with('-');
    was_word_ = !is_option;
    const auto option = option_in(name);
    keep(option > 0 ? option : name.size());
    if (option > 0 && name == kEcho) return drop_to(text_.find('|', at_));
    if (option > 0) return drop_argument();
    if (!is_secret(name, behind_word)) {
      if (at_ < text_.size() && !is_blank(text_[at_])) was_word_ = false;
      return;
    }
    take_value(name, is_option);
  }

  static bool is_token(std::string_view name) {
    constexpr std::size_t kShortest = 20;
    return name.size() >= kShortest &&
           std::ranges::any_of(kTokenBegins, [&](auto begin) { return name.starts_with(begin); });
  }

  /// How many bytes of the name are an option whose value comes next, or in the same word (-Px).
  std::size_t option_in(std::string_view name) const {
    for (std::size_t i = 0; i < kSecretOptions.size(); ++i) {
      const auto option = kSecretOptions[i].flag;
      const bool is_begin = option.size() == 2 && !kSecretOptions[i].is_alone;
      if (has_[i] && (is_begin ? name.starts_with(option) : name == option)) return option.size();
    }
    return 0;
  }

  /// "Sense Key : Medium Error" is no key: a short word counts where no other stands before it.
  static bool is_secret(std::string_view name, bool behind_word) {
    constexpr std::size_t kLongestName = 128;
    if (name.size() > kLongestName) return false;
    auto lower = lower_case(name);
    const auto cut = lower.find_last_of("_-");
    const auto last =
        cut == kNone ? std::string_view{lower} : std::string_view{lower}.substr(cut + 1);
    const bool is_short = std::ranges::find(kSecretWords, last) != kSecretWords.end();
    if (is_short && last != "key") return true;
    if (is_short && (cut != kNone || !behind_word)) return true;
    std::erase_if(lower, [](char c) { return c == '_' || c == '-'; });
    return std::ranges::any_of(kSecretParts,
                               [&](std::string_view part) { return lower.contains(part); });
  }

  /// The value after a secret's name: after =, :, => or >, or after a blank where it looks like
  /// one. Quotes may be escaped, as those of JSON within a text of JSON.
  void take_value(std::string_view name, bool is_option) {
    const auto quote = text_.find_first_not_of('\\', at_);
    const bool quoted_name = quote != kNone && is_quote(text_[quote]);
    const auto at = quoted_name ? quote + 1 : at_;
    const auto sign = behind_blanks(at);
    if (is_option && sign >= text_.size() && behind_blanks(0) + name.size() == at_)
      below_ = Below::value;
    if (sign < text_.size() && text_[sign] == '>' && sign == at) return take_element(sign);
    if (sign < text_.size() && (text_[sign] == '=' || text_[sign] == ':'))
      return take_assigned(name, sign, quoted_name);
    const auto coded = text_.substr(at, 3);
    if (coded == "%3D" || coded == "%3d" || coded == "%3A" || coded == "%3a") {
      keep(at + coded.size() - at_);
      return drop_to(text_.find_first_of(" \t\"'&", at_));
    }
    if (is_option && quoted_name) return drop_argument();
    if (sign == at || sign >= text_.size()) return;
    if (const auto end = end_of_tag(); end != kNone) return take_attributes(end);
    const auto behind = behind_prose(name, sign);
    if (behind == kNone && !is_option && !is_quote(text_[sign]) && !is_no_plain_word(sign)) return;
    keep((behind == kNone ? sign : behind) - at_);
    drop_word();
  }

  void take_assigned(std::string_view name, std::size_t sign, bool quoted_name) {
    auto value = sign + 1;
    if (value < text_.size() && text_[value] == '>') ++value;
    value = behind_blanks(value);
    if (text_[sign] == ':' && (value == text_.size() || is_block(value))) {
      below_ = value == text_.size() ? Below::value : Below::block;
      return keep(text_.size() - at_);
    }
    const auto quote = text_.find_first_not_of('\\', value);
    if (quote != kNone && is_quote(text_[quote])) value = quote;
    if (is_count(name, value) || (quoted_name && is_no_text(value))) return;
    keep(value - at_);
    drop_value(quoted_name);
  }

  /// "password: |" or ">-" of YAML: the value stands below.
  bool is_block(std::size_t value) const {
    constexpr std::size_t kLongest = 3;
    const auto rest = text_.substr(value);
    return rest.size() <= kLongest && (rest.starts_with('|') || rest.starts_with('>'));
  }

  /// <Password>X</Password>, from the '>' on.
  void take_element(std::size_t end) {
    constexpr std::string_view kData = "<![CDATA[";
    keep(end + 1 - at_);
    if (!text_.substr(at_).starts_with(kData)) return drop_to(text_.find('<', at_));
    keep(kData.size());
    drop_to(text_.find("]]>", at_));
  }
  /// Where the name at at_ is that of an element: "<Password", "<wsse:Password".
  bool opens_tag() const {
    constexpr std::size_t kLongest = 64;
    if (before_ != ':') return before_ == '<';
    auto begin = at_ - 1;
    while (begin > 0 && at_ - begin < kLongest && is_of_name(text_[begin - 1])) --begin;
    return begin > 0 && text_[begin - 1] == '<';
  }
  /// Of <Password type="x">; attributes may have secrets of their own.
  std::size_t end_of_tag() const {
    constexpr std::size_t kLongest = 256;
    if (!is_tag_) return kNone;
    const auto rest = text_.substr(at_, kLongest);
    const auto end = rest.find('>');
    return end == kNone || !rest.substr(0, end).contains('=') ? kNone : at_ + end;
  }
  void take_attributes(std::size_t end) {
    auto below = Below::nothing;
    out_ += Line{text_.substr(at_, end - at_)}.scrubbed(below);
    at_ = end;
    take_element(end);
  }

  /// "Password for root: X", "the password is X": where X begins. A plain word is none, and neither
  /// is what follows a short name: "the first pass was 12.5 GB/s", "auth to 10.0.0.5 failed".
  std::size_t behind_prose(std::string_view name, std::size_t from) const {
    constexpr std::size_t kLongest = 128, kShortestName = 5;
    if (name.size() < kShortestName) return kNone;
    const auto word =
        text_.substr(from, std::min(text_.find_first_of(" \t", from), text_.size()) - from);
    constexpr auto kFor = std::to_array<std::string_view>({"for", "of", "f\u00FCr", "pour"});
    constexpr auto kIs =
        std::to_array<std::string_view>({"is", "was", "to", "ist", "lautet", "est"});
    if (std::ranges::find(kFor, word) != kFor.end()) {
      const auto prompt = text_.substr(from, kLongest);
      const auto colon = prompt.find(": ");
      if (colon != kNone && is_prompt(prompt.substr(0, colon)))
        return behind_blanks(from + colon + 1);
    }
    if (std::ranges::find(kIs, word) == kIs.end()) return kNone;
    const auto next = behind_blanks(from + word.size());
    const bool is_value = next < text_.size() && (is_quote(text_[next]) || is_no_plain_word(next));
    return is_value ? next : kNone;
  }

  /// "for user 'a' on host", and not "for root from ::1 port 22 ssh2", nor what has a second part.
  static bool is_prompt(std::string_view text) {
    constexpr auto kMostBlanks = 4;
    return !text.contains(';') && !text.contains(',') &&
           std::ranges::count(text, ' ') <= kMostBlanks;
  }

  /// "tokens": 1234.5 is a rate.
  bool is_count(std::string_view name, std::size_t value) const {
    if (!lower_case(name).contains("token")) return false;
    auto end = value;
    while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
    return end > value && (end == text_.size() || !is_of_name(text_[end]));
  }

  /// true, null, an object: what is in it has names of its own.
  bool is_no_text(std::size_t value) const {
    return value < text_.size() && !is_quote(text_[value]) && !is_digit(text_[value]);
  }

  /// In prose a plain word follows: "the password is wrong".
  bool is_no_plain_word(std::size_t from) const {
    auto end = from;
    while (end < text_.size() && !is_blank(text_[end])) ++end;
    auto word = text_.substr(from, end - from);
    while (!word.empty() && std::string_view{".,;:!?)"}.contains(word.back()))
      word.remove_suffix(1);
    return !std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  }

  /// A password may have blanks: a quoted one ends with its quote, one of JSON with its member, any
  /// other with the line.
  void drop_value(bool in_json) {
    if (at_ >= text_.size()) return;
    if (is_quote(text_[at_])) return drop_to(end_of_quoted());
    if (in_json) return drop_to(text_.find_first_of(",}", at_));
    drop_to(kNone);
  }
  void drop_argument() {
    keep(begin_of_argument() - at_);
    drop_word();
  }
  /// "\\" at the end of a line: the word stands in the next one.
  void drop_word() {
    keep(behind_blanks(at_) - at_);
    if (at_ >= text_.size()) return;
    if (text_.substr(at_) == "\\") below_ = Below::value;
    if (is_quote(text_[at_])) return drop_to(end_of_quoted());
    drop_to(text_.find_first_of(" \t", at_));
  }
  /// Behind blanks, or in the next quotes where the option stands in quotes: ["-P", "X"], and
  /// a1="-P" a2="X" of auditd.
  std::size_t begin_of_argument() const {
    const auto quote = text_.find_first_not_of('\\', at_);
    const bool in_quotes = is_quote(before_) && quote != kNone && is_quote(text_[quote]);
    if (!in_quotes) return behind_blanks(at_);
    const auto at = std::min(text_.find_first_not_of(", \t\\", quote + 1), text_.size());
    const auto equals = text_.find_first_not_of("0123456789", at + 1);
    const bool is_numbered = at < text_.size() && text_[at] == 'a' && equals != kNone &&
                             equals > at + 1 && text_[equals] == '=';
    return is_numbered ? equals + 1 : at;
  }
  /// Of quotes that are escaped: where as many backslashes stand in front of one again.
  std::size_t end_of_quoted() const {
    const char quote = text_[at_];
    const auto escapes = backslashes_before(at_);
    for (auto i = at_ + 1; i < text_.size(); ++i) {
      if (escapes == 0 && text_[i] == '\\')
        ++i;
      else if (text_[i] == quote && (escapes == 0 || backslashes_before(i) == escapes))
        return i + 1;
    }
    return text_.size();
  }
  std::size_t backslashes_before(std::size_t place) const {
    std::size_t count = 0;
    while (count < place && text_[place - count - 1] == '\\') ++count;
    return count;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_{};
  std::array<bool, kSecretOptions.size()> has_{};
  char before_ = ' ';  // what stands in front of the name
  bool is_tag_ = false;
  bool was_word_ = false;
  Below below_ = Below::nothing;
};

/// Private keys go with all of their lines.
std::string without_keys(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
  std::string rest;
  std::size_t from = 0;
  for (auto at = text.find(kBegin); at != kNone; at = text.find(kBegin, at)) {
    const auto label_end = text.find(kDashes, at + kBegin.size());
    if (label_end == kNone) break;
    if (!text.substr(at, label_end - at).contains("PRIVATE KEY")) {
      at = label_end;
      continue;
    }
    rest.append(text, from, at - from).append(kGone);
    const auto end = text.find(kEnd, label_end);
    const auto stop = end == kNone ? kNone : text.find(kDashes, end + kEnd.size());
    from = at = stop == kNone ? text.size() : stop + kDashes.size();
  }
  return rest.append(text, from);
}

}  // namespace

std::string without_known(std::string text, std::span<const std::string> known) {
  // The longest first: one may be in another.
  std::vector<std::string_view> longest_first{known.begin(), known.end()};
  std::ranges::stable_sort(longest_first, std::greater{}, &std::string_view::size);
  for (const auto secret : longest_first) {
    if (secret.empty()) break;
    std::string rest;
    std::size_t from = 0;
    for (auto at = text.find(secret); at != text.npos; at = text.find(secret, from)) {
      rest.append(text, from, at - from).append(kGone);
      from = at + secret.size();
    }
    if (from != 0) text = std::move(rest.append(text, from));
  }
  return text;
}

std::string without_secrets(std::string_view text, std::span<const std::string> known) {
  std::vector<std::string> sought;
  std::ranges::copy_if(known, std::back_inserter(sought),
                       [](const std::string& each) { return each.size() >= kShortestKnown; });
  const auto rest = without_known(without_keys(text), sought);
  std::string scrubbed;
  scrubbed.reserve(rest.size());
  auto below = Below::nothing;
  std::size_t above = 0;  // blanks in front of the last line that was read
  std::size_t block = 0;  // those in front of the block's first line; 0: there is none
  for (std::size_t from = 0; from < rest.size();) {
    const auto end = std::min(rest.find_first_of("\r\n", from), rest.size());
    const auto line = std::string_view{rest}.substr(from, end - from);
    const auto value = line.find_first_not_of(" \t");
    const bool is_of_block = block > 0 && value >= block;
    if (value == kNone) {
      scrubbed += line;
    } else if (is_of_block || below != Below::nothing) {
      if (!is_of_block) block = below == Below::block && value > above ? value : 0;
      scrubbed.append(line.substr(0, value)).append(kGone);
      below = Below::nothing;
    } else {
      above = value;
      block = 0;
      scrubbed += Line{line}.scrubbed(below);
    }
    if (end < rest.size()) scrubbed += rest[end];
    from = end + 1;
  }
  return scrubbed;
}

}  // namespace cupel
