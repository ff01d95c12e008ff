#include "burnin/verdict.h"

namespace cupel::burnin {

std::string_view to_string(Decision decision) {
  switch (decision) {
    case Decision::pass:
      return "pass";
    case Decision::fail:
      return "fail";
    case Decision::inconclusive:
      return "inconclusive";
  }
  __builtin_unreachable();
}

std::string to_string(const Cause& cause) {
  std::string text = cause.part.empty() ? "" : cause.part + ": ";
  text += cause.criterion;
  if (!cause.measured.empty()) text += " " + cause.measured;
  if (!cause.wanted.empty()) text += ", wanted " + cause.wanted;
  return text;
}

}  // namespace cupel::burnin
