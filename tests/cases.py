CLASSICS = ["FOBOSClassifier","FTRLClassifier","PlainSGDClassifier","RDAClassifier","TruncatedGradientClassifier"]
STABILIZED = []
