#include "bmc/diagnostics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/try.h"

namespace cupel::bmc {
namespace {

/// Source: DSP0268, LogService.LogDiagnosticDataTypes.
constexpr std::array<std::string_view, 5> kTypes{"Manager", "PreOS", "OS", "CPER", "CPERSection"};
constexpr std::string_view kManager = "Manager";
constexpr std::string_view kManagers = "/redfish/v1/Managers/";
constexpr std::string_view kRoot = "/redfish/v1/";
constexpr std::size_t kLongestName = 200;

bool same(std::string_view left, std::string_view right) {
  return lower_case(left) == lower_case(right);
}

struct LogRequest {
  std::string type{}, oem{};
};

Result<LogRequest> log_request_of(std::string_view text) {
  const auto colon = text.find(':');
  if (same(text.substr(0, colon), kOemDiagnostics)) {
    const auto name = colon == text.npos ? std::string_view{} : trimmed(text.substr(colon + 1));
    if (!name.empty() && name.size() <= kLongestName && printable(name) == name)
      return LogRequest{std::string{kOemDiagnostics}, std::string{name}};
    return Error{Code::kInvalid, "OEM data has a name of the vendor's: OEM:NAME"};
  }
  const auto* const known =
      std::ranges::find_if(kTypes, [&](std::string_view type) { return same(type, text); });
  if (known != kTypes.end()) return LogRequest{std::string{*known}, {}};
  return Error{Code::kInvalid,
               "'" + printable(shortened(text, kLongestName)) +
                   "' is no type of diagnostic data: Manager, PreOS, OS, CPER, CPERSection or "
                   "OEM:NAME"};
}

/// The word of `words` that is meant, in the BMC's spelling; nothing: none is.
std::optional<std::string> word_for(std::span<const std::string> words, std::string_view name) {
  const auto fits = [&](const std::string& word) {
    const auto equals = word.find('=');
    return same(word, name) ||
           (equals != word.npos && same(std::string_view{word}.substr(equals + 1), name));
  };
  const auto found = std::ranges::find_if(words, fits);
  return found == words.end() ? std::nullopt : std::optional{*found};
}

bool reports_it(const DiagnosticOffer& offer, const LogRequest& requested) {
  return word_for(offer.types, requested.type).has_value() &&
         (requested.oem.empty() || offer.oem_types.empty() ||
          word_for(offer.oem_types, requested.oem));
}

/// bmcweb: dumps of a manager take Manager alone, those of a System OEM alone.
bool may_have_it(const DiagnosticOffer& offer, const LogRequest& requested) {
  return offer.types.empty() &&
         offer.service.starts_with(kManagers) == (requested.type == kManager);
}

DiagnosticOrder order_of(const DiagnosticOffer& offer, const LogRequest& requested) {
  DiagnosticOrder order{.service = offer.service,
                        .type = word_for(offer.types, requested.type).value_or(requested.type)};
  if (!requested.oem.empty())
    order.oem_type = word_for(offer.oem_types, requested.oem).value_or(requested.oem);
  return order;
}

std::string word_in_text(std::string_view word) { return printable(shortened(word, kLongestName)); }

std::string list_of(std::span<const DiagnosticOffer> offers) {
  std::string text;
  for (const auto& offer : offers) text += (text.empty() ? "" : "; ") + to_string(offer);
  return text;
}

}  // namespace

std::string short_name_of_service(std::string_view uri) {
  if (uri.starts_with(kRoot)) uri.remove_prefix(kRoot.size());
  return printable(shortened(uri, kLongestName));
}

std::string to_string(const DiagnosticOffer& offer) {
  auto text = short_name_of_service(offer.service) + ": ";
  if (offer.types.empty()) return text + "types not reported";
  bool first = true;
  for (const auto& type : offer.types) {
    if (!std::exchange(first, false)) text += ", ";
    const bool named = same(type, kOemDiagnostics) && !offer.oem_types.empty();
    if (!named) text += word_in_text(type);
    for (std::size_t at = 0; named && at < offer.oem_types.size(); ++at)
      text += (at == 0 ? "OEM:" : ", OEM:") + word_in_text(offer.oem_types[at]);
  }
  return text;
}

Result<std::vector<DiagnosticOrder>> diagnostic_orders(std::span<const DiagnosticOffer> offers,
                                                       std::string_view requested) {
  TRY(const auto what, log_request_of(requested));
  std::vector<DiagnosticOrder> orders;
  const auto take = [&](auto fits) {
    for (const auto& offer : offers)
      if (fits(offer)) orders.push_back(order_of(offer, what));
  };
  take([&](const DiagnosticOffer& offer) { return reports_it(offer, what); });
  if (orders.empty()) take([&](const DiagnosticOffer& offer) { return may_have_it(offer, what); });
  if (orders.empty()) take([](const DiagnosticOffer& offer) { return offer.types.empty(); });
  if (!orders.empty()) return orders;
  return Error{Code::kInvalid, "no log service of this BMC offers " +
                                   printable(shortened(requested, kLongestName)) +
                                   "; offered: " + list_of(offers)};
}

}  // namespace cupel::bmc
