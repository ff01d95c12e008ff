#pragma once
// std::filesystem without its exceptions: a path that this user may not look at, one that is too
// long, a folder that was removed while we work in it. What throws in std::filesystem is called
// nowhere (tests/tidy_test.cpp); with an error code it may be.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace cupel {

/// Whether something is there. False, too, where that cannot be found out: where a person is
/// informed, absence() says which.
bool is_there(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_pipe(const std::filesystem::path& path);

/// Why there is nothing to read: "there is no file x", "x cannot be looked at: Permission denied".
/// Nothing where there is something.
std::optional<std::string> absence(const std::filesystem::path& path);

/// Why a program of ours, or another one that we call, cannot read it as often as it likes: it is
/// not there, or is a folder, a pipe or a device. Nothing where it is a file.
std::optional<std::string> why_no_file(const std::filesystem::path& path);

/// From the folder that we work in; the path as it is where that folder is gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// What a file in `folder` means by `name`: absolute, without "." and "..".
std::filesystem::path path_from(const std::filesystem::path& folder,
                                const std::filesystem::path& name);

/// The folder that we work in; "." where it is gone.
std::filesystem::path working_folder();

/// $TMPDIR, or /tmp.
std::filesystem::path temporary_folder();

/// Calls `visit` with each std::filesystem::directory_entry of a folder, in no order. Returns why
/// it ended early, if it did: a folder that is not there, or cannot be read.
template <class Visit>
std::error_code each_entry(const std::filesystem::path& folder, Visit visit) {
  std::error_code failure;
  for (std::filesystem::directory_iterator at{folder, failure}, end; !failure && at != end;
       at.increment(failure))
    visit(*at);
  return failure;
}

/// The same of all that lies below it. Links are not followed.
template <class Visit>
std::error_code each_entry_below(const std::filesystem::path& folder, Visit visit) {
  std::error_code failure;
  for (std::filesystem::recursive_directory_iterator at{folder, failure}, end;
       !failure && at != end; at.increment(failure))
    visit(*at);
  return failure;
}

}  // namespace cupel
