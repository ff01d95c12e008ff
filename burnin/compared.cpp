#include "burnin/compared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/enum_words.h"

namespace cupel::burnin {

std::string_view to_string(Against against) { return enum_word<'-'>(against); }

std::string_view to_string(Likeness likeness) { return enum_word<'-'>(likeness); }

double margin(const Compared& compared) {
  const double inside =
      compared.less_is_better ? compared.limit - compared.value : compared.value - compared.limit;
  const double spread = compared.spread * std::abs(compared.expected);
  return spread > 0 ? inside / spread : 0;
}

double behind(const Compared& compared) {
  if (compared.expected == 0) return 0;
  const double share = (compared.expected - compared.value) / std::abs(compared.expected);
  return compared.less_is_better ? -share : share;
}

std::vector<Compared> slow_ones(std::vector<Compared> compared) {
  std::erase_if(compared, [](const Compared& each) { return each.found != Likeness::slow; });
  std::ranges::stable_sort(compared, std::greater{}, behind);
  return compared;
}

std::string slow_text(const Compared& compared) {
  const auto part = compared.part.empty() ? std::string{} : compared.part + ": ";
  const auto unit = compared.unit.empty() ? std::string{} : " " + compared.unit;
  const auto* others = compared.against == Against::fleet     ? "what {} other nodes have"
                       : compared.against == Against::history ? "what it had in {} earlier runs"
                                                              : "the first of {} runs";
  return fmt::format("{}{} {:.6g}{}, {:.2g} % behind {}", part, compared.measure, compared.value,
                     unit, 100 * behind(compared),
                     fmt::format(fmt::runtime(others), compared.others));
}

std::string expected_text(const Compared& compared) {
  const auto unit = compared.unit.empty() ? std::string{} : " " + compared.unit;
  const auto* bound = compared.less_is_better ? "at most" : "at least";
  const auto limit = fmt::format("{} {:.6g}{}", bound, compared.limit, unit);
  const auto spread = fmt::format("{:.2g} %", 100 * compared.spread);
  const auto again = compared.again.empty() ? std::string{} : "; it was so in " + compared.again;
  switch (compared.against) {
    case Against::fleet:
      if (compared.found == Likeness::doubtful)
        return fmt::format("as the faster part of {} other nodes: they fall into two groups",
                           compared.others);
      return fmt::format("{}: {} other nodes have {:.6g} there (spread {}){}", limit,
                         compared.others, compared.expected, spread, again);
    case Against::history:
      return fmt::format("{}: it had {:.6g} in {} earlier runs (spread {}){}", limit,
                         compared.expected, compared.others, spread, again);
    case Against::trend:
      return fmt::format("{}: it has become worse in {} runs, from {:.6g}", limit, compared.others,
                         compared.expected);
  }
  __builtin_unreachable();
}

}  // namespace cupel::burnin
