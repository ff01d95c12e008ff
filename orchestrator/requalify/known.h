#pragma once
// What is known of a repaired machine before any of it is tested again: the run that counts, what
// is there now, what failed since, and what is to be run for it. From the store alone: a command
// line and a service ask the same. Asks no machine.
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "orchestrator/report/requalified.h"
#include "orchestrator/requalify/base_run.h"
#include "orchestrator/requalify/selection.h"

namespace cupel::requalify {

struct Asked {
  std::string node{};
  std::vector<std::string> replaced{};  // as people name parts: see declared_change()
  engine::RunId since = 0;              // the run whose evidence is kept; 0: see passed_run()
  engine::RunId looked = 0;  // the run that has just read what is there; 0: the newest that did
  bool after_swap = false, new_machine = false;
};

struct Known {
  NodeRun base{};
  NodeRun seen{};  // the newest look; the base itself where there is none
  bool is_seen = false;
  std::vector<NodeRun> failed{};  // runs behind the base, newest first
  std::vector<burnin::Change> changes{};
  std::vector<std::string> unseen{};  // declared, and by its serial number not so
  bool is_new_machine = false;
};

/// The run to build on, before the machine is asked anything. Errors: kNotFound: there is none;
/// kInvalid: it was not passed, or a part that was replaced is none of it; kStorage.
Result<NodeRun> base_of(const store::Store& store, const Asked& asked);

/// Errors: as base_of(); kInvalid: the look is missing something, or shows another machine;
/// kNotFound: nothing was seen of the machine since.
Result<Known> look_back(const store::Store& store, const Asked& asked);

/// The playbook of the run that counts. Errors: kInvalid.
Result<playbooks::Playbook> passed_playbook(const Known& known);

/// What is to be run. Errors: as select_stages().
Result<Selection> select_for(const Known& known, const Asked& asked,
                             const inventory::Inventory& inventory, const inventory::Node& node);

/// For the run's journal: what is renewed. Pure.
report::Requalified renewed_by(const Known& known, const Selection& selection);

/// What will run and why, how long it takes, and what is kept, for people. Pure.
std::string plan_text(const Asked& asked, const Known& known, const Selection& selection);
/// The same for programs. Pure.
boost::json::object plan_json(const Asked& asked, const Known& known, const Selection& selection);
/// That it is another machine, and what is run of it. Pure.
std::string new_machine_text(const Asked& asked, const Known& known);

}  // namespace cupel::requalify
