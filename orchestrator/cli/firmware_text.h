#pragma once
// A machine's firmware against its baseline, as people and programs read it. Pure.
#include <boost/json.hpp>
#include <string>

#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/firmware/firmware_plan.h"

namespace cupel::cli {

/// Whether nothing stands against what is to be done. `refusals`: of each update of the plan; empty
/// texts: it may be written.
bool may_be_done(const firmware::FirmwarePlan& plan, const std::vector<std::string>& refusals);

/// "at the baseline (9 components)", or what is off it and what would be done, in its order.
std::string plan_text(const firmware::FirmwarePlan& plan, const std::vector<std::string>& refusals);

/// The same without what would be done.
std::string check_text(const firmware::FirmwarePlan& plan);

/// Adds `warnings` to what is printed of a machine.
void add_warnings(const std::vector<std::string>& warnings, Answer& answer);

/// Adds how the BMC gets its images (firmware::transfer_text), if it fetches them.
void add_transfer(const std::string& transfer, Answer& answer);

boost::json::object plan_json(const firmware::FirmwarePlan& plan,
                              const std::vector<std::string>& refusals);
boost::json::object check_json(const firmware::FirmwarePlan& plan);

}  // namespace cupel::cli
