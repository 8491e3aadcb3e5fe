# The Python module raddle (docs/python.md): `./x python`, or -DRADDLE_PYTHON=ON and the target raddle_python. Whoever
# does not ask for it neither looks for Python nor builds anything.
option(RADDLE_PYTHON "the Python module" OFF)
if(NOT RADDLE_PYTHON)
  return()
endif()
# The user's own where a virtual environment is active, or Python_EXECUTABLE says which.
set(Python_FIND_VIRTUALENV FIRST)
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT DEFINED pybind11_DIR)  # where `pip install pybind11` has put it
  execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir OUTPUT_VARIABLE pybind11_DIR
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT pybind11_DIR)
    unset(pybind11_DIR)
  endif()
endif()
set(PYBIND11_NOPYTHON ON)
find_package(pybind11 2.9 REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/src/*.cpp)
file(GLOB package CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/raddle/*)
list(FILTER package EXCLUDE REGEX "__pycache__")
Python_add_library(raddle_python MODULE WITH_SOABI EXCLUDE_FROM_ALL ${sources})
target_link_libraries(raddle_python PRIVATE raddle_api pybind11::headers)
set_target_properties(raddle_python PROPERTIES OUTPUT_NAME _raddle CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/raddle)
if(RADDLE_ARCH STREQUAL "x86-64-v3")
  target_compile_definitions(raddle_python PRIVATE RADDLE_NEEDS_X86_64_V3)
endif()
raddle_fast_program(raddle_python)

# Beside it, the rest of the package.
set(copied ${CMAKE_BINARY_DIR}/python/package.stamp)
add_custom_command(OUTPUT ${copied} DEPENDS ${package} VERBATIM
  COMMAND ${CMAKE_COMMAND} -E copy ${package} ${CMAKE_BINARY_DIR}/python/raddle
  COMMAND ${CMAKE_COMMAND} -E touch ${copied})
add_custom_target(raddle_python_package DEPENDS ${copied})
add_dependencies(raddle_python raddle_python_package)

# Where `cmake --install BUILD --component python` puts the package; a wheel has its own root.
set(RADDLE_PYTHON_DIR "lib/python3/dist-packages" CACHE STRING "folder of the Python package, below the prefix")
if(SKBUILD)
  set(RADDLE_PYTHON_DIR ".")
endif()
install(TARGETS raddle_python LIBRARY DESTINATION ${RADDLE_PYTHON_DIR}/raddle COMPONENT python EXCLUDE_FROM_ALL)
if(SKBUILD)  # a wheel has the program, too
  install(TARGETS raddle RUNTIME DESTINATION raddle/bin COMPONENT python EXCLUDE_FROM_ALL)
  if(TARGET cudart_runtime)
    install(FILES ${CMAKE_BINARY_DIR}/libcudart.so.11.0 ${CMAKE_BINARY_DIR}/libcudart.so.12
      ${CMAKE_BINARY_DIR}/libcudart.so.13 ${CMAKE_BINARY_DIR}/libcuda.so.1 DESTINATION raddle/bin COMPONENT python EXCLUDE_FROM_ALL)
  endif()
endif()
install(FILES ${package} DESTINATION ${RADDLE_PYTHON_DIR}/raddle COMPONENT python EXCLUDE_FROM_ALL)
