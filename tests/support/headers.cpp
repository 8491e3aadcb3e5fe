// Nothing: the headers that all tests read are compiled with it (cmake/tests.cmake).
