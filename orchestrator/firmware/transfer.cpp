#include "orchestrator/firmware/transfer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::firmware {
namespace {

bool has(const std::vector<std::string>& words, std::string_view requested) {
  return std::ranges::any_of(words,
                             [&](const auto& word) { return lower_case(word) == requested; });
}

std::string listed(const std::vector<std::string>& words) {
  return printable(shortened(fmt::format("{}", fmt::join(words, ", ")), 80));
}

}  // namespace

Result<Transfer> transfer_for(const inventory::ImageTrust& trust,
                              const std::vector<std::string>& fetches_by) {
  const bool unreported = fetches_by.empty();
  if (!trust.only_http && (unreported || has(fetches_by, "https"))) return Transfer::https;
  if (unreported || has(fetches_by, "http")) return Transfer::http;
  return Error{
      Code::kUnsupported,
      fmt::format("this BMC fetches images by {}, and they are served over {}", listed(fetches_by),
                  trust.only_http ? "HTTP alone (firmware: serve: http://)" : "HTTPS and HTTP")};
}

std::string transfer_text(const inventory::ImageTrust& trust,
                          const std::vector<std::string>& fetches_by) {
  const auto chosen = transfer_for(trust, fetches_by);
  if (!chosen) return "refused: " + chosen.error().what;
  const auto from = inventory::to_string(*trust.serve);
  if (*chosen == Transfer::https) return "over HTTPS from " + from;
  return fmt::format("over HTTP from {}, not encrypted: {}", from,
                     trust.only_http ? std::string{"the inventory says serve: http://"}
                                     : "this BMC fetches by " + listed(fetches_by));
}

}  // namespace cupel::firmware
