#include "bmc/pin_list.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/digest.h"
#include "base/text.h"

namespace cupel::bmc {
namespace {

constexpr std::string_view kPrefixOfPins = "SHA256:";
constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
constexpr std::size_t kLeastDer = 64;  // no certificate is as short

/// "SHA256:AB:CD..." as it is kept; nothing where it is none.
std::optional<std::string> fingerprint_in(std::string_view text) {
  std::string digits = lower_case(text);
  if (!digits.starts_with("sha256:")) return std::nullopt;
  digits.erase(0, kPrefixOfPins.size());
  std::erase(digits, ':');
  const bool hexadecimal = digits.find_first_not_of("0123456789abcdef") == digits.npos;
  if (digits.size() != 64 || !hexadecimal) return std::nullopt;
  return std::string{kPrefixOfPins} + digits;
}

class Reading {
 public:
  explicit Reading(const std::string& file) : file_{file} {}

  void take(std::string_view line) {
    ++line_;
    const auto bare = trimmed(line);
    if (certificate_) return take_certificate(bare);
    const auto text = trimmed(bare.substr(0, bare.find('#')));
    if (text.empty()) return;
    if (text == kBegin) {
      began_ = line_;
      certificate_.emplace();
      return;
    }
    const auto reported = words(text);
    if (reported.size() > 2)
      return print_error(line_,
                         "a line is a name and SHA256:..., or a name alone with a PEM "
                         "certificate below it");
    lost_name();
    name_ = reported[0];
    named_ = line_;
    if (reported.size() == 1) return;
    if (auto pin = fingerprint_in(reported[1]))
      list_.pins.push_back({std::exchange(name_, {}), *std::move(pin), {file_, line_, 1}});
    else
      print_error(line_, "'" + printable(shortened(reported[1], 80)) +
                             "' is no fingerprint: SHA256: and 64 hexadecimal digits");
    name_.clear();
  }

  PinList end() {
    if (certificate_) print_error(began_, "a certificate without its END line");
    lost_name();
    return std::move(list_);
  }

 private:
  void take_certificate(std::string_view line) {
    if (line != kEnd) {
      *certificate_ += line;
      return;
    }
    const auto der = from_base64(*certificate_);
    certificate_.reset();
    const bool again = name_.empty() && !list_.pins.empty() && chain_of_ == list_.pins.size();
    if (again) return;  // who signed the one before
    if (name_.empty())
      return print_error(began_, "whose certificate? Its node stands on a line above it");
    const bool whole = der && der->size() >= kLeastDer && der->starts_with('\x30');
    if (whole) {
      list_.pins.push_back(
          {name_, std::string{kPrefixOfPins} + sha256_hex(*der), {file_, named_, 1}});
      chain_of_ = list_.pins.size();
    } else {
      print_error(began_, "this is no PEM certificate");
    }
    name_.clear();
  }

  void lost_name() {
    if (!name_.empty()) print_error(named_, "no certificate for " + printable(name_));
    name_.clear();
  }

  void print_error(int line, std::string what) {
    list_.problems.push_back({{file_, line, 1}, std::move(what)});
  }

  const std::string& file_;
  PinList list_{};
  int line_ = 0, began_ = 0, named_ = 0;
  std::string name_{};
  std::optional<std::string> certificate_{};
  std::size_t chain_of_ = 0;
};

}  // namespace

PinList parse_pin_list(std::string_view text, const std::string& file) {
  Reading reading{file};
  for (const auto line : lines(text)) reading.take(line);
  return reading.end();
}

}  // namespace cupel::bmc
