#pragma once
// The secrets that were sent to one BMC, and the one place that takes them out of what it answers.
// BMCs repeat values in error texts ("The value 'calvin' for the property Password ..."), and
// whoever answers in a BMC's place may repeat anything. Pure; no protocol in here.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::bmc {

/// Overwrites a text that is no longer needed.
void overwrite(std::string& secret);

/// "cifs://(hidden)@10.0.0.1/x.iso" of an URL with a user in it; any other text as it is.
std::string without_credentials(std::string_view url);

class SentSecrets {
 public:
  /// What stands where a secret stood.
  static constexpr std::string_view kHidden = "(hidden)";
  /// A shorter one is a common word: see In.
  static constexpr std::size_t kShortest = 4;
  /// Kept at a time; of more, those go that were sent longest ago.
  static constexpr std::size_t kMost = 64;

  /// What is scrubbed. A secret that is a common word (shorter than kShortest, the user's own name,
  /// or a word of every Redfish document, such as "admin" or "Systems") cannot be taken out of
  /// documents without destroying them. It is taken out of refusals and texts, where it stands
  /// alone between quotes.
  enum class In {
    document,  // JSON of an answer that is none of an error
    refusal,   // JSON of an error
    text,      // a header, an error text
  };

  SentSecrets() = default;
  SentSecrets(const SentSecrets&) = delete;
  SentSecrets& operator=(const SentSecrets&) = delete;
  /// Overwrites them.
  ~SentSecrets();

  /// From now on hidden. Known ones count as sent last. An empty one is ignored.
  void add(std::string_view secret, std::string_view user = {});
  /// A password, also as a Basic header spells it (base64, RFC 7617, 2).
  void add_login(std::string_view user, std::string_view password);
  /// The password of a URL "scheme://user:password@host/...", where it has one.
  void add_url(std::string_view url);

  bool empty() const { return all_.empty(); }

  /// The text without them: as they are, escaped for JSON (\", \u0041, repeatedly), percent-encoded
  /// and as HTML has them, in any mixture. A text that almost spells them so often that looking
  /// for them would take long is hidden as a whole.
  std::string scrubbed(std::string text, In where) const;

  /// Asterisks where they stood, so that nothing moves: for binary records. Common words stay.
  void scrub(std::span<std::uint8_t> bytes) const;

 private:
  struct Secret {
    std::string text;
    bool common;
  };
  void add_one(std::string_view secret, bool common);

  std::vector<Secret> all_;
};

}  // namespace cupel::bmc
