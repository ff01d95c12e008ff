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

struct Wanted {
  std::string type{}, oem{};
};

Result<Wanted> wanted_of(std::string_view text) {
  const auto colon = text.find(':');
  if (same(text.substr(0, colon), kOemDiagnostics)) {
    const auto name = colon == text.npos ? std::string_view{} : trimmed(text.substr(colon + 1));
    if (!name.empty() && name.size() <= kLongestName && printable(name) == name)
      return Wanted{std::string{kOemDiagnostics}, std::string{name}};
    return Error{Code::kInvalid, "OEM data has a name of the vendor's: OEM:NAME"};
  }
  const auto* const known =
      std::ranges::find_if(kTypes, [&](std::string_view type) { return same(type, text); });
  if (known != kTypes.end()) return Wanted{std::string{*known}, {}};
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

bool reports_it(const DiagnosticOffer& offer, const Wanted& wanted) {
  return word_for(offer.types, wanted.type).has_value() &&
         (wanted.oem.empty() || offer.oem_types.empty() || word_for(offer.oem_types, wanted.oem));
}

/// bmcweb: dumps of a manager take Manager alone, those of a System OEM alone.
bool may_have_it(const DiagnosticOffer& offer, const Wanted& wanted) {
  return offer.types.empty() && offer.service.starts_with(kManagers) == (wanted.type == kManager);
}

DiagnosticOrder order_of(const DiagnosticOffer& offer, const Wanted& wanted) {
  DiagnosticOrder order{.service = offer.service,
                        .type = word_for(offer.types, wanted.type).value_or(wanted.type)};
  if (!wanted.oem.empty())
    order.oem_type = word_for(offer.oem_types, wanted.oem).value_or(wanted.oem);
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
                                                       std::string_view wanted) {
  TRY(const auto what, wanted_of(wanted));
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
                                   printable(shortened(wanted, kLongestName)) +
                                   "; offered: " + list_of(offers)};
}

}  // namespace cupel::bmc
