#pragma once
// The CUDA libraries of a virtual node: its own lie where its system keeps libraries, brought ones
// beside cupel-burn. What is in such a file does not matter: a node has it, or has it not.
#include <string>
#include <string_view>

#include "rehearsal/shell/process.h"

namespace cupel::rehearsal {

void plant_cuda_libraries(FileSystem& disk);

/// `cupel-burn libraries`: a line for each.
std::string library_lines(Process& process);

/// Why this command cannot begin; empty where it has the libraries that it opens.
std::string missing_library(Process& process, std::string_view command);

}  // namespace cupel::rehearsal
