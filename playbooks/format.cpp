#include "playbooks/format.h"

#include <fmt/format.h>

#include "burnin/stage.h"

namespace cupel::playbooks {
namespace {

using Kind = Shape::Kind;

constexpr double kMostNames = 100;
constexpr double kMuch = 1e15;

/// The rows' names, each with its line for people.
Shape names_of(const auto& rows, std::string_view noun) {
  auto shape = word_of({}, noun);
  for (const auto& row : rows) {
    shape.words.push_back(row.name);
    shape.about.push_back(row.summary);
  }
  return shape;
}

Shape kind_shape() {
  auto shape = names_of(step_kinds(), "step");
  shape.hint = [](std::string_view typed) {
    const bool is_stage = burnin::stage(typed) != nullptr;
    return is_stage ? fmt::format(" (it is a stage: write stage: {})", typed) : std::string{};
  };
  return shape;
}

Shape stage_shape() {
  auto shape = names_of(burnin::stages(), "stage");
  shape.hint = [](std::string_view typed) {
    const bool is_step = step_kind(typed) != nullptr;
    return is_step ? fmt::format(" (it is a step: write step: {})", typed) : std::string{};
  };
  return shape;
}

std::vector<std::string_view> part_words() {
  using enum inventory::PartKind;
  std::vector<std::string_view> words;
  for (const auto kind : {gpu, cpu, dimm, nvme, drive, psu, fan, hca, nic, dpu, switch_chip})
    words.push_back(to_string(kind));
  return words;
}

/// A text or several of them.
Shape texts() { return either_of({of_kind(Kind::text), list_of(of_kind(Kind::text), kMostNames)}); }

Shape choice_shape() {
  return either_of({of_kind(Kind::text), list_of(of_kind(Kind::text), kMostNames),
                    map_of({{"is", "any of these", texts()}, {"not", "none of these", texts()}})});
}

Shape test_shape() {
  return either_of(
      {of_kind(Kind::text), list_of(of_kind(Kind::text), kMostNames),
       map_of({{"is", "any of these", texts()},
               {"not", "none of these", texts()},
               {"at_least", "a number, compared as one", number_from(-kMuch, kMuch)},
               {"at_most", "a number, compared as one", number_from(-kMuch, kMuch)}})});
}

Shape when_shape() {
  return map_of(
      {{"parameter", "the playbook's own parameters, by their names; settled when it is read",
        table_of(test_shape(), kMostNames)},
       {"profile", "the node's profile; settled when the run is planned", choice_shape()},
       {"rack", "the node's rack; settled when the run is planned", choice_shape()},
       {"fact", "a fact that an earlier step reported, by its name (bmc.vendor)",
        table_of(test_shape(), kMostNames)},
       {"measure", "what an earlier stage measured, by its name (gpu.count)",
        table_of(test_shape(), kMostNames)}});
}

Shape with_shape() { return table_of(of_kind(Kind::text), kMostNames); }

Shape parameter_shape() {
  return map_of(
      {{"default", "the default; without it the parameter must be set", of_kind(Kind::text)},
       {"type", "what its value must be; text if not given",
        word_of({"text", "duration", "size", "integer", "number"})},
       {"values", "all that it may be", list_of(of_kind(Kind::text), kMostNames)},
       {"description", "one line for people", of_kind(Kind::text)}});
}

Shape claims_shape() {
  return list_of(map_of({{"resource", "what it needs; the number available is in limits",
                          of_kind(Kind::name), true},
                         {"scope",
                          "whose limit it is: each node's, each rack's, of each group of nodes "
                          "with the same leaf "
                          "switches, or the site's (the default)",
                          word_of({"node", "rack", "leaf-group", "site"})},
                         {"count", "how many; 1 by default", integer_from(1, 1000)}}),
                 16);
}

Key key(std::string_view name, std::string_view description, Shape shape) {
  return {name, description, std::move(shape)};
}

Shape make_step_shape() {
  auto with = key("with", "parameters of the step", with_shape());
  auto deadline = key("deadline", "for all attempts together; each step kind has a default",
                      of_kind(Kind::duration));
  auto when = key("when", "conditions of the step; all must be met", when_shape());
  auto stop_after =
      key("stop_after", "when no further node starts this step until an operator continues the run",
          map_of({{"failures", "this many nodes failed it", integer_from(1, 100'000)},
                  {"share", "this share of the nodes that ended it failed, once four have ended it",
                   number_from(0, 1)}}));
  with.parameters = deadline.parameters = when.parameters = stop_after.parameters = true;
  return map_of({
      key("step", "what Cupel does to the machine", kind_shape()),
      key("stage", "what burns on the machine", stage_shape()),
      key("as", "a name for this occurrence of a step that occurs several times: disk@NAME",
          of_kind(Kind::name)),
      std::move(with),
      std::move(when),
      key("foreach", "repeat the step for each item of a list, or for each part of the profile",
          either_of({list_of(of_kind(Kind::name), static_cast<double>(kMostEach)),
                     map_of({{"part", "kind of part", word_of(part_words(), "part"), true}})})),
      std::move(deadline),
      key("max_attempts", "how often the step is tried when a failure is transient",
          integer_from(1, 100)),
      key("on_failure", "stop (the default): the node's other steps are skipped",
          word_of({"stop", "continue"})),
      key("group_by", "which nodes start the stage at the same time",
          word_of({"alone", "pairs", "rack", "all"})),
      std::move(stop_after),
      key("claims", "what the step needs while it runs", claims_shape()),
  });
}

Shape make_include_shape() {
  auto with = key("with", "values of the included file's parameters", with_shape());
  auto when = key("when", "conditions of its steps; all must be met", when_shape());
  with.parameters = when.parameters = true;
  return map_of({{"include", "a file beside this one, or a shipped playbook, by its name",
                  of_kind(Kind::text), true},
                 std::move(with),
                 std::move(when)});
}

Shape make_playbook_shape() {
  auto limits = key("limits", "how many there are of each resource that steps claim",
                    table_of(integer_from(1, 1'000'000), kMostNames));
  auto at_once = key("max_parallel", "how many nodes work at the same time; 64 by default",
                     integer_from(1, 10'000));
  auto canary = key("canary", "sizes of the first waves; the rest follows",
                    list_of(integer_from(1, 100'000), 8));
  auto one_per_rack =
      key("one_per_rack",
          "behind the first wave, whether one node of each rack goes before the rest; images: of "
          "racks whose nodes' profiles name firmware images",
          word_of({"yes", "no", "images"}));
  auto deadline = key("deadline", "of each step without one; empty: the default of each step kind",
                      of_kind(Kind::text));
  limits.parameters = at_once.parameters = canary.parameters = deadline.parameters = true;
  auto steps =
      key("steps", "the steps, in this order", list_of(of_kind(Kind::anything), kMostSteps));
  steps.required = true;
  return map_of({{"playbook", "its name", of_kind(Kind::name), true},
                 key("description", "one line for people", of_kind(Kind::text)),
                 key("parameters", "what --set may change, by name; used as ${name}",
                     table_of(parameter_shape(), kMostNames)),
                 std::move(at_once),
                 key("priority", "among the runs of one controller; higher goes first",
                     integer_from(-100, 100)),
                 std::move(canary),
                 std::move(one_per_rack),
                 std::move(deadline),
                 std::move(limits),
                 std::move(steps)});
}

}  // namespace

const Shape& playbook_shape() {
  static const Shape kShape = make_playbook_shape();
  return kShape;
}

const Shape& step_shape() {
  static const Shape kShape = make_step_shape();
  return kShape;
}

const Shape& include_shape() {
  static const Shape kShape = make_include_shape();
  return kShape;
}

Shape shape_of_type(std::string_view type) {
  if (type == "duration") return of_kind(Kind::duration);
  if (type == "size") return of_kind(Kind::size);
  if (type == "integer") return integer_from(-kMuch, kMuch);
  if (type == "number") return number_from(-kMuch, kMuch);
  return of_kind(Kind::text);
}

Shape shape_of(const burnin::ParameterRow& row) {
  using Row = burnin::ParameterRow::Kind;
  switch (row.kind) {
    case Row::text:
      return of_kind(Kind::text);
    case Row::word:
      return word_of({row.words.begin(), row.words.end()});
    case Row::duration:
      return of_kind(Kind::duration);
    case Row::size:
      return of_kind(Kind::size);
    case Row::size_or_percent:
      return of_kind(Kind::size_or_percent);
    case Row::folder:
      return of_kind(Kind::folder);
  }
  __builtin_unreachable();
}

}  // namespace cupel::playbooks
