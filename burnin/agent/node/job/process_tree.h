#pragma once
// All processes that a job has started, wherever they went: none may outlive the job. A subreaper
// adopts every orphan below it (prctl(2), PR_SET_CHILD_SUBREAPER), so setsid and double forks
// cannot escape; a control group, where one can be made, is killed by one call to the kernel.
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cupel::agent {

/// Every living process below `ancestor`, whatever session it made for itself; no zombies.
std::vector<pid_t> descendants(pid_t ancestor);

/// Every living process that carries CUPEL_JOB=`folder` in its environment: what is left where
/// nobody is its ancestor any more. Ourselves left out.
std::vector<pid_t> strays(const std::string& folder);

/// A fresh control group (version 2) below our own; empty where there is none to be had.
std::string make_control_group(const std::string& name);

/// The calling process moves there. False where the kernel refuses.
bool join_control_group(const std::string& path);

/// KILL to all in it, by one act where the kernel knows how (5.14), else one by one.
void kill_control_group(const std::string& path);

/// A child whose exit status somebody wants, as a shell says it: 137 of what KILL ended.
struct Watched {
  pid_t pid = 0;
  std::optional<int> status{};
};

/// An exit status of wait(2) as a shell has it.
int shell_status(int status);

/// Takes the exit status of every child that has ended. Never waits.
void reap(Watched& watched);

/// KILL to all that is below this process, until nothing is, and takes their exit statuses. What
/// the kernel itself holds fast (a driver that hangs) is given up after `patience`: false.
bool kill_descendants(Watched& watched, const std::string& control_group,
                      std::chrono::milliseconds patience);

/// KILL to that child of ours and all below it, and to whatever it left to us that carries `mark`
/// ("NAME=VALUE") in its environment, until none lives. `others`: children that are none of it.
/// Leaves the child's exit status to be taken. False as above.
bool kill_family(pid_t child, const std::string& mark, const std::set<pid_t>& others,
                 std::chrono::milliseconds patience);

/// Ends what is left of a job whose supervisor was killed. Idempotent. False: some live on.
bool kill_strays(const std::string& folder, const std::string& control_group,
                 std::chrono::milliseconds patience);

}  // namespace cupel::agent
