#pragma once
// What a person is to do for a step that failed, where the step itself names nothing: data. In an
// action NODE stands for the node's name, RUN for the run's number.
#include <string>
#include <string_view>

#include "orchestrator/record/node_record.h"

namespace cupel::report {

struct Advice {
  std::string_view step;     // empty: any
  std::string_view outcome;  // empty: any that is not done
  std::string_view error;    // empty: any
  std::string_view says;     // in the step's detail; empty: anything
  std::string_view action;   // empty: the detail says it
  bool at_the_rack;
  bool goes_on;  // from afar it can be seen that it was done
};

/// nullptr where the step did not fail, or nobody can help.
const Advice* advice_for(const record::StepRecord& step);

/// Whether the step itself names what a person is to do.
bool asks_for_operator(const record::StepRecord& step);

/// The action with the run and the node in the places of RUN and NODE.
std::string action_for(std::string_view action, std::int64_t run, const std::string& node);

}  // namespace cupel::report
