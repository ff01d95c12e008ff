#pragma once
// Which findings of a node follow from another one: a missing GPU explains why no pair with it was
// measured, a hot one why it slows down. Pure; a table of rules in consequences.cpp. Says only what
// people need not act upon: nothing is dropped, and no verdict becomes better.
#include <span>
#include <string>
#include <vector>

#include "burnin/verdict.h"

namespace cupel::burnin {

/// Sets `consequence_of` of every cause that another one explains, to the cause_name() of the one
/// that nothing explains. Causes keep their order and their decision. A finding follows only from a
/// failure of a part that it is connected with, and only as far as that failure accounts for it:
/// six GPUs where one is missing are not explained. `checked`: all criteria of the node, which say
/// how many GPUs were measured.
void mark_consequences(std::vector<Cause>& causes, std::span<const Checked> checked = {});

/// "gpu5: audit: missing": what `consequence_of` refers to.
std::string cause_name(const Cause& cause);

/// A cause that needs action, and what follows from it.
struct Explained {
  Cause cause;
  std::vector<Cause> consequences{};
};

/// The causes that need action in their order, each with its consequences. A consequence whose
/// cause is not among them stands for itself.
std::vector<Explained> explained(std::span<const Cause> causes);

}  // namespace cupel::burnin
