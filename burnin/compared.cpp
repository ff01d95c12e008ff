#include "burnin/compared.h"

#include <fmt/format.h>

#include <cmath>

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

std::string expected_text(const Compared& compared) {
  const auto unit = compared.unit.empty() ? std::string{} : " " + compared.unit;
  const auto* bound = compared.less_is_better ? "at most" : "at least";
  const auto limit = fmt::format("{} {:.6g}{}", bound, compared.limit, unit);
  const auto spread = fmt::format("{:.2g} %", 100 * compared.spread);
  switch (compared.against) {
    case Against::fleet:
      if (compared.found == Likeness::doubtful)
        return fmt::format("as the faster part of {} other nodes: they fall into two groups",
                           compared.others);
      return fmt::format("{}: {} other nodes have {:.6g} there (spread {})", limit, compared.others,
                         compared.expected, spread);
    case Against::history:
      return fmt::format("{}: it had {:.6g} in {} earlier runs (spread {})", limit,
                         compared.expected, compared.others, spread);
    case Against::trend:
      return fmt::format("{}: it has become worse in {} runs, from {:.6g}", limit, compared.others,
                         compared.expected);
  }
  __builtin_unreachable();
}

}  // namespace cupel::burnin
